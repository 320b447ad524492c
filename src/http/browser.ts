/**
 * A browser sends requests on behalf of any page that somebody opens, and adds the key that it remembers for this
 * server. A request by a page of another site that could change something is refused (`decisions: Requests by a
 * browser`).
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SnitchError } from '../core/errors.ts';

/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The values of `Sec-Fetch-Site` for requests without any part in them by another site. Only browsers send the header.
 */
const OWN_SITES = new Set(['same-origin', 'none']);

/**
 * @param baseUrl where clients reach this server; behind a proxy the request itself may not show it
 * @throws SnitchError for a request that a page of another site made and that could change something
 */
export function refuseForeignPages(request: IncomingMessage, baseUrl: string): void {
  const foreign = SAFE.has(request.method ?? '') ? null : signOfForeignPage(request, baseUrl);
  if (foreign === null) return;
  throw new SnitchError(
    'origin_forbidden',
    foreign === 'origin'
      ? `A web page of another site sent this request. If it is this server's own, set base_url to its address.`
      : 'A web page of another site sent this request.',
  );
}

/**
 * The same for the form of a page of our own that keeps its address secret: for such a page the browser hides the
 * origin too, and sends `null`.
 *
 * @throws SnitchError for a request that a page of another site made
 */
export function refuseForeignForms(request: IncomingMessage, baseUrl: string): void {
  const { origin, ...headers } = request.headers;
  const known = origin === undefined || origin === 'null' ? headers : { ...headers, origin };
  if (signIn(known, baseUrl) === null) return;
  throw new SnitchError(
    'origin_forbidden',
    'A web page of another site sent this. Open the link and press the button there.',
  );
}

/** Which header shows that a page of another site made the request, whatever its method; null if none does. */
export function signOfForeignPage({ headers }: IncomingMessage, baseUrl: string): 'origin' | 'site' | null {
  return signIn(headers, baseUrl);
}

function signIn(headers: IncomingHttpHeaders, baseUrl: string): 'origin' | 'site' | null {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, headers, baseUrl)) return 'origin';
  return site === undefined || OWN_SITES.has(String(site).trim().toLowerCase()) ? null : 'site';
}

/**
 * Whether the origin is the configured address, or the host that the request was sent to. For that host both http and
 * https count, because a proxy on the way may have decrypted the request.
 */
function isOwnOrigin(origin: string, { host }: IncomingHttpHeaders, baseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (from.origin === 'null') return false;
  if (URL.canParse(baseUrl) && from.origin === new URL(baseUrl).origin) return true;
  const asked = `${from.protocol}//${host}`;
  return host !== undefined && URL.canParse(asked) && new URL(asked).origin === from.origin;
}
