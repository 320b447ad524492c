/** Lets each call go when the server has room for it, and after any wait that the server has asked for. */
import { Pace } from './pace.ts';

/** A wait that begins, for reporting it. */
export interface Wait {
  seconds: number;
  /** `pace` if the call would exceed the limit, otherwise the server's reason for refusing it. */
  reason: 'pace' | 'rate_limited' | 'unavailable';
  /** How many calls a minute the server accepts in the long run; null if it does not say. */
  perMinute: number | null;
}

export interface Patience {
  /** How long one call may wait in total for a server that blocks the key (429), in seconds. */
  rateLimitedS: number;
  /** The same for a server that cannot answer now (503). */
  unavailableS: number;
  /** Called when a wait begins, only once if many calls wait for the same thing. */
  onWait?: (wait: Wait) => void;
  /** Ends all waits; the calls that waited reject with its reason. */
  signal?: AbortSignal;
}

export const IMPATIENT: Patience = { rateLimitedS: 0, unavailableS: 0 };

/** Waits for the pace are reported only when they add up to more than this. */
const WORTH_TELLING_MS = 5_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The answer to a refused call. `retryAfterS` is null if it names no time to wait. */
export interface Refusal {
  status: number;
  retryAfterS: number | null;
}

export class Turns {
  readonly #pace = new Pace();
  readonly #patience: Patience;
  /** How long calls have waited for the pace in total, in milliseconds. It is reported once. */
  #paced = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /**
   * Waits until a call may go, even if the key is blocked.
   *
   * @returns a function that must be called when the call has ended, with the headers of the answer, or {} if none came
   */
  async take(): Promise<(headers: Headers) => void> {
    for (let ms = this.#pace.waitMs(performance.now()); ms > 0; ms = this.#pace.waitMs(performance.now())) {
      if (!this.#pace.isBlocked(performance.now())) this.#tellPace(ms);
      await this.#sleep(ms);
    }
    this.#pace.started(performance.now());
    return (headers) => this.#pace.ended(headers, performance.now());
  }

  /**
   * Holds all calls back for as long as the server asked.
   *
   * @param waitedS how long this call has already waited, in seconds
   * @returns how long it will have waited after this wait; null if it must not wait, or has no patience left
   */
  hold({ status, retryAfterS }: Refusal, waitedS: number): number | null {
    if ((status !== 429 && status !== 503) || retryAfterS === null) return null;
    const seconds = Math.max(1, retryAfterS);
    const { rateLimitedS, unavailableS, onWait } = this.#patience;
    if (waitedS + seconds > (status === 429 ? rateLimitedS : unavailableS)) return null;
    const now = performance.now();
    if (this.#pace.block(now + seconds * 1_000, now)) {
      const reason = status === 429 ? 'rate_limited' : 'unavailable';
      onWait?.({ seconds, reason, perMinute: this.#pace.perMinute });
    }
    return waitedS + seconds;
  }

  #tellPace(ms: number): void {
    const before = this.#paced;
    this.#paced += ms;
    if (before > WORTH_TELLING_MS || this.#paced <= WORTH_TELLING_MS) return;
    const { perMinute } = this.#pace;
    this.#patience.onWait?.({ seconds: Math.ceil(ms / 1_000), reason: 'pace', perMinute });
  }

  #sleep(ms: number): Promise<void> {
    const { signal } = this.#patience;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve();
      }, ms);
      signal?.addEventListener('abort', end, { once: true });
    });
  }
}
