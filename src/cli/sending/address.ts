/** Whole check-in addresses, which a job may be given instead of a token. */
import { UsageError } from '../failure/failure.ts';

export interface CheckInAddressParts {
  /** What comes before the token, without a slash at the end. */
  base: string;
  token: string;
}

export function looksLikeAddress(given: string): boolean {
  return /^https?:\/\//i.test(given);
}

const API_KEY = /\/snk_[A-Za-z0-9]{40}$/;

/** @throws UsageError if it is not such an address; the message does not repeat a token or a key in it */
export function splitAddress(given: string): CheckInAddressParts {
  const url = URL.parse(given.trim());
  const [, path = '', encoded = ''] = /^(.*)\/([^/]+)\/?$/.exec(url?.pathname ?? '') ?? [];
  if (url === null || encoded === '' || url.search !== '' || url.username !== '' || url.password !== '') {
    throw new UsageError(
      'the check-in address must be http://HOST/c/TOKEN, without a user name or parameters',
    );
  }
  if (API_KEY.test(path)) {
    throw new UsageError(
      'the check-in address has an API key in it, which everybody on this host could see: put the key into a file for --api-key-file, and give the name of the snitch alone',
    );
  }
  try {
    return { base: `${url.origin}${path}`, token: decodeURIComponent(encoded) };
  } catch {
    throw new UsageError('the token in the check-in address is not well encoded');
  }
}
