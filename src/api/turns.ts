/** Lets calls go when the server has room for them, and again when it asked to wait. */
import { Pace } from './pace.ts';

/** A wait that begins. */
export interface Wait {
  seconds: number;
  /** `pace`: the limit would be reached; else what the server answered. */
  reason: 'pace' | 'rate_limited' | 'unavailable';
  /** How many calls a minute the server takes in the long run, where it said so. */
  perMinute: number | null;
}

export interface Patience {
  /** For how long at most, of one call in all, a server is waited for that blocks the key (429), in seconds. */
  rateLimitedS: number;
  /** The same for a server that cannot answer now (503). */
  unavailableS: number;
  /** Called when a wait begins; of many calls that wait for the same thing, once. */
  onWait?: (wait: Wait) => void;
  /** Ends waits: the calls reject with its reason. */
  signal?: AbortSignal;
}

export const IMPATIENT: Patience = { rateLimitedS: 0, unavailableS: 0 };

/** Waits for the pace that are shorter come and go unnoticed. */
const WORTH_TELLING_MS = 5_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What the answer of a refused call says; null where it is no such refusal. */
export interface Refusal {
  status: number;
  retryAfterS: number | null;
}

export class Turns {
  readonly #pace = new Pace();
  readonly #patience: Patience;
  /** Milliseconds that were waited for the pace; what it comes to is told once. */
  #paced = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Waits for a turn, a block of the key included. The caller tells by the answer's headers, or by none, that the call has ended. */
  async take(): Promise<(headers: Headers) => void> {
    for (let ms = this.#pace.waitMs(performance.now()); ms > 0; ms = this.#pace.waitMs(performance.now())) {
      if (!this.#pace.isBlocked(performance.now())) this.#tellPace(ms);
      await this.#sleep(ms);
    }
    this.#pace.started(performance.now());
    return (headers) => this.#pace.ended(headers, performance.now());
  }

  /**
   * Holds all calls for as long as the server asked.
   *
   * @param waitedS for how long this call was made to wait before
   * @returns the same with this wait; null where patience is at its end
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
