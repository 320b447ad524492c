/**
 * A token bucket per API key, and a larger one per case; a key that overdraws its own is blocked for a while
 * (`decisions: Rate limit`).
 */
import { MINUTE } from '../../text/durations.ts';

export interface RateLimit {
  /** Requests a minute; 0 turns the limit off. */
  perMinute: number;
  /** Requests that may come at once after a quiet time. */
  burst: number;
  /** How many seconds a key that went over its limit stays blocked. */
  blockS: number;
}

/** How far a key is from its limit. */
export interface Standing {
  burst: number;
  /** How many seconds an empty bucket takes to fill. */
  fillsInS: number;
  /** Requests that may come at once. */
  left: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
  blockedUntil: number;
}

/**
 * A case may make this many times the requests of one key. One key alone never reaches the limit of its case, nor do
 * a few together, but twenty keys do not get twenty times as much.
 */
const KEYS_OF_CASE = 4;

/** How many buckets are remembered. When one more is needed, all are forgotten, and everybody gets a full one. */
const REMEMBERED = 10_000;

export class RateLimiter {
  #limit: RateLimit;
  readonly #buckets = new Map<string, Bucket>();
  /** Separate, so somebody with many addresses cannot cause the other buckets to be forgotten. */
  readonly #guesses = new Map<string, Bucket>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  configure(limit: RateLimit): void {
    this.#limit = limit;
    this.#buckets.clear();
    this.#guesses.clear();
  }

  /**
   * Takes one request out of the bucket of `key`.
   *
   * @param now monotonic milliseconds
   * @returns 0, or how many milliseconds the key is blocked
   */
  take(key: string, now: number): number {
    const { perMinute, burst, blockS } = this.#limit;
    if (perMinute === 0) return 0;
    const bucket = this.#bucketOf(key, burst, now);
    if (bucket.blockedUntil > now) return bucket.blockedUntil - now;
    if (takeFrom(bucket, { perMinute, burst }, now) === 0) return 0;
    bucket.blockedUntil = now + blockS * 1_000;
    return blockS * 1_000;
  }

  /**
   * What is left in the emptiest of the buckets of `keys`, for clients that pace themselves; null without a limit.
   *
   * @param now monotonic milliseconds
   */
  standing(keys: readonly string[], now: number): Standing | null {
    const { perMinute, burst } = this.#limit;
    if (perMinute === 0 || keys.length === 0) return null;
    const left = keys.map((key) => {
      const { tokens, filledAt } = this.#bucketOf(key, burst, now);
      return Math.min(burst, tokens + ((now - filledAt) * perMinute) / MINUTE);
    });
    return { burst, fillsInS: (burst * 60) / perMinute, left: Math.floor(Math.min(...left)) };
  }

  /**
   * Takes one request out of the bucket of a case, which all of its keys share. A case is never blocked, so a key with
   * too many requests keeps the others out only while it goes on.
   *
   * @param now monotonic milliseconds
   * @returns 0, or after how many milliseconds the case may ask again
   */
  takeOfCase(id: string, now: number): number {
    return this.#takeShared(this.#buckets, id, now);
  }

  /**
   * Takes one snitch, made by a check-in, out of a bucket of the case: check-ins themselves are never refused for being
   * many.
   *
   * @param now monotonic milliseconds
   * @returns 0, or after how many milliseconds the case may make another one
   */
  takeToMake(id: string, now: number): number {
    return this.#takeShared(this.#buckets, `${id} makes`, now);
  }

  /**
   * Takes one guess out of the bucket of an address: a try with a key that has never proved right.
   *
   * @param now monotonic milliseconds
   * @returns 0, or after how many milliseconds that address may try another one
   */
  takeGuess(address: string, now: number): number {
    return this.#takeShared(this.#guesses, address, now);
  }

  /** Takes from a larger bucket, which blocks nobody. */
  #takeShared(buckets: Map<string, Bucket>, name: string, now: number): number {
    const perMinute = KEYS_OF_CASE * this.#limit.perMinute;
    const burst = KEYS_OF_CASE * this.#limit.burst;
    return perMinute === 0 ? 0 : takeFrom(bucketOf(buckets, name, burst, now), { perMinute, burst }, now);
  }

  #bucketOf(name: string, burst: number, now: number): Bucket {
    return bucketOf(this.#buckets, name, burst, now);
  }
}

function bucketOf(buckets: Map<string, Bucket>, name: string, burst: number, now: number): Bucket {
  let bucket = buckets.get(name);
  if (!bucket) {
    if (buckets.size >= REMEMBERED) buckets.clear();
    bucket = { tokens: burst, filledAt: now, blockedUntil: 0 };
    buckets.set(name, bucket);
  }
  return bucket;
}

/** As defined by draft-ietf-httpapi-ratelimit-headers. Clients of the contract do not know these headers. */
export function headersOf({ burst, fillsInS, left }: Standing): Record<string, string> {
  const untilFull = Math.ceil(((burst - left) * fillsInS) / burst);
  return {
    'ratelimit-policy': `"key";q=${burst};w=${Math.max(1, Math.ceil(fillsInS))}`,
    ratelimit: `"key";r=${left};t=${untilFull}`,
  };
}

/** @returns 0 if a token was taken, otherwise after how many milliseconds there will be one */
function takeFrom(
  bucket: Bucket,
  { perMinute, burst }: Pick<RateLimit, 'perMinute' | 'burst'>,
  now: number,
): number {
  bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) * perMinute) / MINUTE);
  bucket.filledAt = now;
  if (bucket.tokens < 1) return ((1 - bucket.tokens) * MINUTE) / perMinute;
  bucket.tokens -= 1;
  return 0;
}
