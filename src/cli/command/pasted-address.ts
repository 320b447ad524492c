/** A snitch that is named by its check-in address, as people copy it from a crontab or a log. */
import { UsageError } from '../failure/failure.ts';

export function isPastedAddress(given: string): boolean {
  return /^\s*https?:\/\//i.test(given);
}

/** The address without its parameters and user name, which may be secret. */
export function withoutParameters(address: string): string {
  const url = URL.parse(address.trim());
  return url === null ? address.trim() : `${url.origin}${url.pathname}`;
}

/** What may follow the token: the report of a run. */
const SUFFIX = /^(?:start|fail|log|\d{1,3})$/;

/**
 * The tokens that may be meant by an address, the likeliest first: people paste what is written in their jobs, with
 * parameters and suffixes.
 *
 * @throws UsageError if there is an API key in it
 */
export function tokensOf(address: string): string[] {
  const url = URL.parse(address.trim());
  if (url === null) return [];
  const path = url.pathname.replace(/\/$/, '');
  if (/\/snk_[A-Za-z0-9]{40}(?:\/|$)/.test(path)) {
    throw new UsageError(
      'the check-in address has an API key in place of a token: give the name behind it alone',
    );
  }
  const [last = '', before = ''] = path.split('/').map(decoded).reverse();
  return [last, ...(SUFFIX.test(last) ? [before] : [])].filter((token) => token !== '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
