/** How often a password may be tried: by one address, and for one page by all addresses together. */
import { isIPv6 } from 'node:net';
import { MINUTE } from '../../../text/durations.ts';

interface Bucket {
  left: number;
  filledAt: number;
}

/** How many may be tried at once after a quiet time, and how many a minute. */
interface Limit {
  burst: number;
  perMinute: number;
}

const OF_ADDRESS: Limit = { burst: 10, perMinute: 5 };
const OF_PAGE: Limit = { burst: 60, perMinute: 60 };

/** How many buckets are remembered; when one more is needed, the oldest is forgotten. */
const REMEMBERED = 10_000;

export class Guesses {
  readonly #buckets = new Map<string, Bucket>();

  /**
   * Takes one try out of both buckets.
   *
   * @param address null for a client on this host that has none
   * @param now monotonic milliseconds
   * @returns 0, or after how many milliseconds there may be another try
   */
  take(pageId: number, address: string | null, now: number): number {
    const own = this.#bucket(`from ${networkOf(address)} ${pageId}`, OF_ADDRESS, now);
    // An address over its limit uses up nothing of the shared bucket.
    if (own.left < 1) return wait(own, OF_ADDRESS);
    const shared = this.#bucket(`page ${pageId}`, OF_PAGE, now);
    if (shared.left < 1) return wait(shared, OF_PAGE);
    own.left -= 1;
    shared.left -= 1;
    return 0;
  }

  /** Returns the try if it turned out to be right. */
  giveBack(pageId: number, address: string | null, now: number): void {
    this.#bucket(`from ${networkOf(address)} ${pageId}`, OF_ADDRESS, now).left += 1;
    this.#bucket(`page ${pageId}`, OF_PAGE, now).left += 1;
  }

  #bucket(name: string, { burst, perMinute }: Limit, now: number): Bucket {
    const bucket = this.#buckets.get(name) ?? { left: burst, filledAt: now };
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.filledAt) * perMinute) / MINUTE);
    bucket.filledAt = now;
    this.#buckets.delete(name);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= REMEMBERED && oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

function wait({ left }: Bucket, { perMinute }: Limit): number {
  return ((1 - left) * MINUTE) / perMinute;
}

/** Whoever has one IPv6 address has its whole network. */
function networkOf(address: string | null): string {
  if (address === null) return 'this host';
  if (!isIPv6(address)) return address;
  const { hostname } = new URL(`http://[${address}]`);
  const [front = '', back = ''] = hostname.slice(1, -1).split('::');
  const parts = front.split(':').filter((part) => part !== '');
  const missing = hostname.includes('::') ? 8 - parts.length - back.split(':').filter(Boolean).length : 0;
  const all = [...parts, ...Array<string>(missing).fill('0'), ...back.split(':').filter(Boolean)];
  return all.slice(0, 4).join(':');
}
