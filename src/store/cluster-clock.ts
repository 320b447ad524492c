/**
 * The clock that all nodes on one database share: on each host, its own clock corrected by the database's. A host whose
 * clock is wrong by hours, or jumps, then dates check-ins and decides deadlines as all others do.
 */
import { uptime } from 'node:os';

/** If two clocks of one host differ by more, one was set or stood still. The next comparison corrects anything less. */
const JUMP = 1_000;

/** Both sides round to whole milliseconds. */
const ROUNDED = 1;

/** All in milliseconds. */
export interface ClockReadings {
  /** The wall clock of this host, which anybody can set. */
  own: () => number;
  /** Never set, but may stand still while the host sleeps. */
  monotonic?: () => number;
  /** Does not stand still then. It is read about once a second, because it costs more. */
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
  /** What is added to the host's own clock; nearly zero if that is right. */
  #correction = 0;

  constructor(readings: ClockReadings) {
    this.#readings = { monotonic: () => performance.now(), sinceBoot: () => uptime() * 1_000, ...readings };
  }

  /** In milliseconds since the epoch; by the host's own clock until it was first compared. */
  readonly now = (): number => {
    const own = this.#readings.own();
    this.#noticeJump(own);
    return own + this.#correction;
  };

  /** How far the host's own clock is ahead of the database's, in milliseconds; negative if it is behind. */
  get aheadMs(): number {
    this.#noticeJump(this.#readings.own());
    return -this.#correction;
  }

  /**
   * To be called as soon as the database has reported its time. It read its clock at some moment between request and
   * answer; of all corrections that this allows, the one that changes least is taken.
   *
   * @param asked when the request was sent, by the monotonic clock
   * @param told the database's answer, in milliseconds since the epoch
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

  /** If the host's own clock moved although no time passed, that is corrected. Time that the host slept did pass. */
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
