/** Writes that wait for their transaction, and which of them are next. */

/** After this many urgent writes one of the others gets a turn, so that no load of check-ins can hold up the sweep. */
const URGENT_RUN = 64;

/**
 * If the daemon's own work took at least this long, it rests for as long as it took before it goes on, provided
 * somebody has called within `CALLED_WITHIN`: a sweep through a million snitches would keep the event loop busy for
 * seconds, and check-ins would wait at each of their steps. In milliseconds.
 */
const WORTH_RESTING = 1;
const CALLED_WITHIN = 250;

/** A timer counts in whole milliseconds: it would stretch a shorter rest to two or three. In milliseconds. */
const AS_GOOD_AS_OVER = 0.5;

/**
 * A transaction that has lasted this long begins no further own work if somebody has called recently: whoever calls
 * meanwhile waits for all of it, and for its commit. In milliseconds.
 */
export const OWN_RUN = 1;

/** How long after own work more of it is expected, such as the next slice of a sweep; in milliseconds. */
const OWN_GOES_ON = 20;

/** The writes that are next. */
export interface WritesInTurn<Write> {
  writes: Write[];
  /** How many of them are the daemon's own. */
  own: number;
  /** From this one on they are begun only within `OWN_RUN`. */
  limitedFrom: number;
}

export class WaitingWrites<Write> {
  /** Somebody waits for them on the network: they go before the daemon's own. */
  #urgent: Write[] = [];
  #own: Write[] = [];
  /** When somebody last called, and from when own work can go on, in milliseconds of a clock that never jumps. */
  #calledAt = Number.NEGATIVE_INFINITY;
  #ownFrom = Number.NEGATIVE_INFINITY;
  /** When own work was last done. */
  #ownAt = Number.NEGATIVE_INFINITY;
  readonly #monotonic: () => number;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  get size(): number {
    return this.#urgent.length + this.#own.length;
  }

  addUrgent(write: Write): void {
    this.#calledAt = this.#monotonic();
    this.#urgent.push(write);
  }

  addOwn(write: Write): void {
    this.#own.push(write);
  }

  /** Whether a write can run now. */
  get hasTurn(): boolean {
    return this.#urgent.length > 0 || (this.#own.length > 0 && !this.#isResting);
  }

  get #isResting(): boolean {
    return this.restsFor > AS_GOOD_AS_OVER;
  }

  /** Whether own work is in progress, in pieces that each make others wait. */
  get isWorking(): boolean {
    return this.#own.length > 0 || this.#monotonic() - this.#ownAt < OWN_GOES_ON;
  }

  /** How many milliseconds own work still rests; 0 or less if it does not. */
  get restsFor(): number {
    return this.#ownFrom - this.#monotonic();
  }

  /**
   * The writes that are next, urgent ones first: a check-in that came before a sweep must never find itself accused by
   * it. They stay in line until they are taken out.
   */
  turn(): WritesInTurn<Write> {
    const own = this.#isResting ? [] : this.#own;
    const urgent = this.#urgent;
    const writes = [
      ...urgent.slice(0, URGENT_RUN),
      ...own.slice(0, 1),
      ...urgent.slice(URGENT_RUN),
      ...own.slice(1),
    ];
    const limited = this.#monotonic() - this.#calledAt < CALLED_WITHIN;
    return { writes, own: own.length, limitedFrom: limited ? urgent.length + 1 : Number.POSITIVE_INFINITY };
  }

  /**
   * Takes out the first `count` of a turn.
   *
   * @param turn as returned by `turn`; whatever came since then is after all of it
   * @param took how long they took, in milliseconds
   */
  takeOut(count: number, turn: Omit<WritesInTurn<Write>, 'limitedFrom'>, took: number): void {
    const urgent = turn.writes.length - turn.own;
    const before = Math.min(urgent, URGENT_RUN);
    const first = turn.own > 0 && count > before ? 1 : 0;
    const ownTaken = first + Math.max(0, count - urgent - first);
    this.#urgent = this.#urgent.slice(count - ownTaken);
    if (ownTaken === 0) return;
    this.#own = this.#own.slice(ownTaken);
    const now = this.#monotonic();
    this.#ownAt = now;
    if (took >= WORTH_RESTING && now - this.#calledAt < CALLED_WITHIN) this.#ownFrom = now + took;
  }

  /** Takes out all of them. */
  takeAll(): Write[] {
    const all = [...this.#urgent, ...this.#own];
    this.#urgent = [];
    this.#own = [];
    return all;
  }

  /** Lets own work go on at once. */
  endRest(): void {
    this.#ownFrom = Number.NEGATIVE_INFINITY;
  }
}
