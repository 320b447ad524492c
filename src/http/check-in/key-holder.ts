/**
 * Finds the case of a check-in by name. The key is in the address, where only a provisioning key is allowed, or in the
 * `Authorization` header.
 */
import type { IncomingMessage } from 'node:http';
import type { ApiKey } from '../../core/api-key.ts';
import type { Case } from '../../core/case.ts';
import { SnitchError } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import { keyIn } from '../endpoint/auth.ts';
import { TryLater } from '../endpoint/errors.ts';
import { createUseRecorder } from '../endpoint/key-use.ts';
import type { RateLimiter } from '../endpoint/rate-limit.ts';
import type { Named } from './target.ts';

export interface KeyHolderOptions {
  store: Store;
  limiter: RateLimiter;
  clock: () => number;
  /** The address that the request came from, even through trusted proxies. */
  sourceOf: (request: IncomingMessage) => string | null;
  /** Whether a page of another site made the request. */
  isForeign: (request: IncomingMessage) => boolean;
}

/** The case, and the key that opened it. */
export interface Holder {
  apiKey: ApiKey;
  case: Case;
}

/** @returns a function that finds the case, or throws the reason why the key opens none */
export function createKeyHolder({ store, limiter, clock, sourceOf, isForeign }: KeyHolderOptions) {
  const recordUse = createUseRecorder(store);

  async function find(request: IncomingMessage, key: string) {
    const found = await store.findApiKey(key);
    if (found !== null) return found;
    limitGuesses(limiter, sourceOf(request));
    throw new SnitchError('api_key_invalid', 'The API key is missing or invalid.');
  }

  return async function holderOf(request: IncomingMessage, { key }: Named): Promise<Holder> {
    // A browser remembers keys, and adds them to any request that a page makes.
    if (key === null && isForeign(request)) {
      throw new SnitchError('origin_forbidden', 'A web page of another site sent this request.');
    }
    const found = await find(request, key ?? keyIn(request) ?? '');
    const ownCase = admit(found, key !== null);
    recordUse(found.apiKey, clock());
    return { apiKey: found.apiKey, case: ownCase };
  };
}

/**
 * Only keys that turned out to be wrong count: many hosts may have one address, and the guesses of others never lock
 * out a right key, not even one that comes for the first time since the start.
 *
 * @throws TryLater for an address that has tried too many keys in vain
 */
function limitGuesses(limiter: RateLimiter, source: string | null): void {
  const waitMs = limiter.takeGuess(source ?? 'this host', performance.now());
  if (waitMs === 0) return;
  const message = 'Too many different API keys were tried from this address.';
  throw new TryLater('rate_limited', message, Math.ceil(waitMs / 1_000));
}

/** A key that can do more than this must not be where proxies write it into their logs. */
function admit({ apiKey, case: ownCase }: { apiKey: ApiKey; case: Case | null }, isInAddress: boolean): Case {
  if (ownCase !== null && apiKey.scope === 'provision') return ownCase;
  if (ownCase !== null && apiKey.scope === 'write' && !isInAddress) return ownCase;
  const needed = 'This needs a key of the scope provision: snitch key create NAME --scope provision.';
  throw new SnitchError(
    'api_key_forbidden',
    isInAddress ? `${needed} Others do not belong in an address.` : needed,
  );
}
