/** A URL to send to, taken apart: where it leads, and which parts of it are secret. */

export interface WebAddress {
  origin: string;
  /** Path and query. */
  path: string;
  /** Host and port, to be shown. */
  host: string;
  /** The value of the `authorization` header for the credentials in the URL, if it has any. */
  authorization: string | null;
  /** The secrets in it, in every spelling: must never be shown. */
  secrets: string[];
}

/** Null if `url` is not an http or https URL. */
export function webAddress(url: string): WebAddress | null {
  const parsed = URL.parse(url);
  if (!parsed || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return null;
  const { origin, pathname, search, host, username, password } = parsed;
  const user = percentDecoded(username);
  const pass = percentDecoded(password);
  const basic = Buffer.from(`${user}:${pass}`).toString('base64');
  const named = username !== '' || password !== '';
  // A user name on its own is the key itself; with a password it is not secret.
  const secret = password === '' ? [user, username] : [pass, password];
  return {
    origin,
    path: pathname + search,
    host,
    authorization: named ? `Basic ${basic}` : null,
    secrets: named ? [basic, ...secret] : [],
  };
}

/** Credentials that are not valid percent-encoding stand for themselves. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `location` as it may be shown: without credentials, and without the query, where tokens often are. */
export function shownLocation(location: string, base: string): string {
  const url = URL.parse(location, base);
  return url ? `${url.origin}${url.pathname}` : 'an invalid address';
}
