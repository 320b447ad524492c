/** Which requests are check-ins, and of which snitch: `<base>/<token>[/<suffix>][/][?query]`. */

export type Suffix = { kind: 'start' | 'fail' | 'log' } | { kind: 'exit'; status: number };

export interface Target {
  token: string;
  suffix: Suffix | null;
  /** Without the question mark. */
  query: string;
}

/** A path below an address where check-ins are taken. */
export interface CheckInPath {
  /** Null if the path does not look like a check-in address. */
  target: Target | null;
  /** Whether something follows the token, whatever it is. */
  hasSuffix: boolean;
  /** Whether a check-in is answered 200 here, whatever its form. */
  alwaysOk: boolean;
}

/** Check-ins are always taken here, because addresses in crontabs outlive a change of the configuration. */
const PLAIN = '/c/';
/** The same for clients that accept no other answer than 200. */
const OK = '/ping/';

/**
 * @param path the path that tokens follow, without a slash at the end; empty for the root
 * @param served the patterns of the router's routes, which take precedence over tokens
 * @returns a function that reads the URL of a request, and returns null for a request that is no check-in
 */
export function createPathReader(path: string, served: () => Iterable<string>) {
  const prefixes = [...new Set([`${path}/`, PLAIN, OK])].sort((a, b) => b.length - a.length);
  const own = `${path}/`;
  let names: ReadonlySet<string> | null = null;

  function isServed(rest: string): boolean {
    names ??= namesBelow(path, served());
    return names.size > 0 && (names.has(ANY) || names.has(/^[^/?]*/.exec(rest)?.[0] ?? ''));
  }

  return function readPath(url: string): CheckInPath | null {
    const local = url.startsWith('/') ? url : withoutOrigin(url);
    const prefix = prefixes.find((one) => local.startsWith(one));
    if (prefix === undefined) return null;
    const rest = local.slice(prefix.length);
    if (prefix === own && isServed(rest)) return null;
    return parseRest(rest, prefix === OK);
  };
}

export type PathReader = ReturnType<typeof createPathReader>;

/** A client that talks to a proxy names the host in the target as well: `GET http://host/c/<token>`. */
function withoutOrigin(url: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
  return url.slice(origin.length);
}

/** Stands for a route that takes any name. */
const ANY = ':';

/** The names that routes have right below `path`. */
function namesBelow(path: string, routes: Iterable<string>): Set<string> {
  const above = path.split('/');
  const names = new Set<string>();
  for (const route of routes) {
    const segments = route.split('/');
    const name = segments[above.length];
    if (name === undefined || !above.every((one, index) => matches(segments[index], one))) continue;
    names.add(name.startsWith(':') ? ANY : name);
  }
  return names;
}

function matches(pattern: string | undefined, segment: string): boolean {
  return pattern === segment || pattern?.startsWith(':') === true;
}

function parseRest(rest: string, alwaysOk: boolean): CheckInPath {
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const slash = path.indexOf('/');
  if (slash < 0) return { target: withToken(path, null, query), hasSuffix: false, alwaysOk };
  const name = path.slice(slash + 1).replace(/\/$/, '');
  if (name === '')
    return { target: withToken(path.slice(0, slash), null, query), hasSuffix: false, alwaysOk };
  const suffix = parseSuffix(name);
  return { target: suffix && withToken(path.slice(0, slash), suffix, query), hasSuffix: true, alwaysOk };
}

function withToken(encoded: string, suffix: Suffix | null, query: string): Target | null {
  if (encoded === '' || encoded.length > 1_000) return null;
  try {
    return { token: encoded.includes('%') ? decodeURIComponent(encoded) : encoded, suffix, query };
  } catch {
    return null;
  }
}

function parseSuffix(name: string): Suffix | null {
  if (name === 'start' || name === 'fail' || name === 'log') return { kind: name };
  return /^\d{1,3}$/.test(name) && Number(name) <= 255 ? { kind: 'exit', status: Number(name) } : null;
}
