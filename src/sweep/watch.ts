/** Watches whether time passes evenly. If it does not, the process did not run, or the clock was set forward. */
import type { BlindWindow } from '../core/blind-window.ts';

/** If the last look was longer ago than this, the daemon was asleep or its clock jumped; milliseconds. */
const LONGEST_LOOK = 15_000;

const LOOK_EVERY = 1_000;

export class Watch {
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | null = null;
  #lookedAt: number | null = null;
  /** The time in which nothing was received, and for which no blind window has been opened yet. */
  window: BlindWindow | null = null;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** It uses a timer of its own, because a long sweep, during which check-ins are still received, is not a sleep. */
  start(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** @returns the current time */
  look(): number {
    const now = this.#clock();
    if (this.#lookedAt !== null && now - this.#lookedAt > LONGEST_LOOK) this.blind(this.#lookedAt, now);
    this.#lookedAt = now;
    return now;
  }

  /** The daemon begins to listen. Until now it was as blind as before. */
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

  /** A blind window was opened for `seen`. What was noticed since then remains. */
  told(seen: BlindWindow | null): void {
    if (this.window === seen) this.window = null;
  }
}
