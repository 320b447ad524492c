/**
 * The clock that all nodes on one database share, on this host: its own one, set right by that of the database. A host
 * whose clock is wrong by hours, or jumps, then stamps check-ins and decides deadlines as all others do.
 */
import { uptime } from 'node:os';

/** Clocks of one host that differ by more were set, or stood still; what is less is found out by the next comparison. */
const JUMP = 1_000;

/** Both sides round to whole milliseconds. */
const ROUNDED = 1;

/** All in milliseconds. */
export interface ClockReadings {
  /** The wall clock of this host, which anybody may set. */
  own: () => number;
  /** It is never set, but may stand still while the host sleeps. */
  monotonic?: () => number;
  /** It does not stand still then. It is read each second, and costs more. */
  sinceBoot?: () => number;
}

interface Reading {
  own: number;
  monotonic: number;
  sinceBoot: number;
}

export class ClusterClock {
  readonly #readings: Required<ClockReadings>;
  #last: Reading | null = null;
  /** What is added to the own clock. As good as zero where that is right. */
  #correction = 0;

  constructor(readings: ClockReadings) {
    this.#readings = { monotonic: () => performance.now(), sinceBoot: () => uptime() * 1_000, ...readings };
  }

  /** In milliseconds since the epoch; by the own clock until it was compared for the first time. */
  readonly now = (): number => {
    const own = this.#readings.own();
    this.#noticeJump(own);
    return own + this.#correction;
  };

  /** How far the own clock is ahead of that of the database, in milliseconds; negative where it is behind. */
  get aheadMs(): number {
    this.#noticeJump(this.#readings.own());
    return -this.#correction;
  }

  /**
   * To be called as soon as the database has told its time. It read its clock some time between question and answer, so
   * that of all corrections which that allows the one is taken that changes least.
   *
   * @param asked when it was asked, by the monotonic clock
   * @param told what it answered, in milliseconds since the epoch
   */
  compared(asked: number, told: number): void {
    const own = this.#readings.own();
    this.#noticeJump(own);
    const reading = this.#readAt(own);
    const least = told - own - ROUNDED;
    const most = told + (reading.monotonic - asked) - own + ROUNDED;
    this.#correction = Math.round(Math.min(Math.max(this.#correction, least), most));
    this.#last = reading;
  }

  /** What the own clock went on by without time passing is no time. What a host slept is. */
  #noticeJump(own: number): void {
    const last = this.#last;
    if (last === null) return;
    if (Math.abs(own - last.own - (this.#readings.monotonic() - last.monotonic)) <= JUMP) return;
    const reading = this.#readAt(own);
    const passed = reading.monotonic - last.monotonic;
    const slept = reading.sinceBoot - last.sinceBoot - passed;
    const jumped = own - last.own - passed - (slept > JUMP ? slept : 0);
    if (Math.abs(jumped) > JUMP) this.#correction -= Math.round(jumped);
    this.#last = reading;
  }

  #readAt(own: number): Reading {
    return { own, monotonic: this.#readings.monotonic(), sinceBoot: this.#readings.sinceBoot() };
  }
}
