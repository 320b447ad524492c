/**
 * How fast calls may be sent, going by what the server's answers say about the rate limit of the key
 * (`RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers). All times are monotonic milliseconds.
 */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The part of the burst that is left to others with the same key, such as a person who works during an import. */
const LEFT_TO_OTHERS = 0.1;

const ROUNDING = 1e-6;

export class Pace {
  #burst = 0;
  #callsPerMs = 0;
  #left = Number.POSITIVE_INFINITY;
  #asOf = 0;
  #inFlight = 0;
  #blockedUntil = 0;

  /** How long the next call must wait; 0 if it may go now. Without a known limit there is no wait. */
  waitMs(now: number): number {
    if (this.#blockedUntil > now) return this.#blockedUntil - now;
    if (this.#burst === 0) return 0;
    const least = 1 + Math.floor(this.#burst * LEFT_TO_OTHERS);
    const left = this.#leftAt(now);
    // If a fraction of a call is missing only because of rounding, there is no reason to wait.
    const missing = least - left - ROUNDING;
    return missing <= 0 ? 0 : Math.ceil(missing / this.#callsPerMs);
  }

  isBlocked(now: number): boolean {
    return this.#blockedUntil > now;
  }

  /** Calls a minute in the long run; null if no limit is known. */
  get perMinute(): number | null {
    return this.#burst === 0 ? null : Math.round(this.#callsPerMs * 60_000);
  }

  started(now: number): void {
    this.#left = this.#leftAt(now) - 1;
    this.#asOf = now;
    this.#inFlight += 1;
  }

  /** @param headers the headers of the answer; empty if none came */
  ended(headers: Headers, now: number): void {
    this.#inFlight -= 1;
    const policy = parameters(headers['ratelimit-policy']);
    const standing = parameters(headers.ratelimit);
    const { q: burst = 0, w: window = 0 } = policy;
    if (!(burst >= 1 && window >= 1) || standing.r === undefined) {
      this.#burst = 0;
      return;
    }
    this.#burst = burst;
    this.#callsPerMs = burst / (window * 1_000);
    // The server may not have counted the calls that are still under way, so they are taken off here.
    this.#left = Math.min(burst, standing.r) - this.#inFlight;
    this.#asOf = now;
  }

  /** @returns whether the block is new, because only one of many calls that wait for the same block reports it */
  block(until: number, now: number): boolean {
    const known = this.#blockedUntil > now;
    this.#blockedUntil = Math.max(this.#blockedUntil, until);
    return !known;
  }

  #leftAt(now: number): number {
    if (this.#burst === 0) return Number.POSITIVE_INFINITY;
    return Math.min(this.#burst, this.#left + Math.max(0, now - this.#asOf) * this.#callsPerMs);
  }
}

/** The whole numbers of `"key";q=100;w=10`; if there are several policies, those of the first. */
function parameters(header: string | string[] | undefined): Record<string, number> {
  const text = Array.isArray(header) ? header[0] : header;
  const found = (text ?? '').split(',', 1)[0]?.matchAll(/;\s*([a-z]+)=(\d{1,9})(?=\s*(?:;|$))/g) ?? [];
  return Object.fromEntries([...found].map(([, name, digits]) => [name, Number(digits)]));
}
