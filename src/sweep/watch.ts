/** Watches that time passes evenly: where it does not, the process did not run, or its clock was set forward. */
import type { BlindWindow } from '../core/blind-window.ts';

/** A daemon that did not look for longer than this was asleep, or its clock jumped; milliseconds. */
const LONGEST_LOOK = 15_000;

const LOOK_EVERY = 1_000;

export class Watch {
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | null = null;
  #lookedAt: number | null = null;
  /** The time in which nothing was heard and that no blind window was opened for yet. */
  window: BlindWindow | null = null;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** By a timer of its own: a long sweep is no sleep, since check-ins are taken between its slices. */
  start(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Answers the present time. */
  look(): number {
    const now = this.#clock();
    if (this.#lookedAt !== null && now - this.#lookedAt > LONGEST_LOOK) this.blind(this.#lookedAt, now);
    this.#lookedAt = now;
    return now;
  }

  /** The daemon begins to listen: until now it was as blind as before. */
  listens(): void {
    const now = this.look();
    if (this.window) this.blind(this.window.start, now);
  }

  blind(start: number, end: number): void {
    this.window = {
      start: Math.min(start, this.window?.start ?? start),
      end: Math.max(end, this.window?.end ?? end),
    };
  }

  /** A window was opened for `seen`; what was noticed since then remains. */
  told(seen: BlindWindow | null): void {
    if (this.window === seen) this.window = null;
  }
}
