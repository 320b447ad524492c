/**
 * Which requests are check-ins, and of which snitch: `<base>/<token>[/<suffix>][/][?query]`, or by name
 * `<base>/<key>/<name>[/<suffix>][/][?query]`.
 */
import { looksLikeApiKey } from '../../core/api-key.ts';

export type Suffix = { kind: 'start' | 'fail' | 'log' } | { kind: 'exit'; status: number };

export interface Target {
  token: string;
  suffix: Suffix | null;
  /** Without the question mark. */
  query: string;
}

/** A snitch identified by its name, by somebody with a key of its case. */
export interface Named extends Omit<Target, 'token'> {
  /** Null if there is a hyphen instead, and the key is in the `Authorization` header. */
  key: string | null;
  name: string;
}

/** A path below an address that receives check-ins. */
export interface CheckInPath {
  /** Null if the path does not look like the check-in address of a token. */
  target: Target | null;
  /**
   * Null if there is no key in the token's place. The token of a snitch from another service may look like a key:
   * then `target` is set too.
   */
  named: Named | null;
  /** Whether something follows the token, whatever it is. */
  hasSuffix: boolean;
  /** Whether a check-in is answered 200 here, whatever its form. */
  alwaysOk: boolean;
  /** Whether a page may have this address: then it is a check-in only if there is a snitch with this token. */
  mayBePage: boolean;
}

/** A route of the router. */
export interface ServedRoute {
  url: string;
  /** The names of its pages, if it leaves snitch tokens to check-ins; absent if it takes every name. */
  besideTokens?: RegExp | undefined;
}

/** Check-ins are always received here, because addresses in crontabs outlive a change of the configuration. */
const PLAIN = '/c/';
/** The same for clients that accept no other answer than 200. */
const OK = '/ping/';

/**
 * @param path the path that tokens follow, without a slash at the end; empty for the root
 * @param served the routes of the router, which take precedence over tokens unless they say otherwise
 * @returns a function that reads the URL of a request, and returns null for a request that is not a
 *   check-in
 */
export function createPathReader(path: string, served: () => Iterable<ServedRoute>) {
  const prefixes = [...new Set([`${path}/`, PLAIN, OK])].sort((a, b) => b.length - a.length);
  const own = `${path}/`;
  let names: readonly Name[] | null = null;

  /** What the router has there. */
  function servedAt(rest: string): 'nothing' | 'route' | 'page' {
    names ??= namesBelow(path, served());
    if (names.length === 0) return 'nothing';
    const first = /^[^/?]*/.exec(rest)?.[0] ?? '';
    const found = names.filter(({ is }) => (typeof is === 'string' ? is === first : is.test(first)));
    if (found.length === 0) return 'nothing';
    return found.every(({ isBesideTokens }) => isBesideTokens) ? 'page' : 'route';
  }

  return function readPath(url: string): CheckInPath | null {
    const local = url.startsWith('/') ? url : withoutOrigin(url);
    const prefix = prefixes.find((one) => local.startsWith(one));
    if (prefix === undefined) return null;
    const rest = local.slice(prefix.length);
    const there = prefix === own ? servedAt(rest) : 'nothing';
    if (there === 'route') return null;
    const read = { ...parseRest(rest), alwaysOk: prefix === OK, mayBePage: there === 'page' };
    return read.mayBePage && read.target === null ? null : read;
  };
}

export type PathReader = ReturnType<typeof createPathReader>;

/** A client that talks to a proxy also names the host in the target: `GET http://host/c/<token>`. */
function withoutOrigin(url: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
  return url.slice(origin.length);
}

/** A name right below the path of check-ins. */
interface Name {
  is: string | RegExp;
  isBesideTokens: boolean;
}

/** The names that routes have right below `path`. */
function namesBelow(path: string, routes: Iterable<ServedRoute>): Name[] {
  const above = path.split('/');
  return [...routes].flatMap(({ url, besideTokens }): Name[] => {
    const segments = url.split('/');
    const name = segments[above.length];
    if (name === undefined || !above.every((one, index) => matches(segments[index], one))) return [];
    if (!name.startsWith(':')) return [{ is: name, isBesideTokens: false }];
    return [{ is: besideTokens ?? patternOf(name), isBesideTokens: besideTokens !== undefined }];
  });
}

/** `:file(^badge_.*$)` takes only what matches, `:token` takes everything. */
function patternOf(parameter: string): RegExp {
  return new RegExp(/\((.*)\)$/.exec(parameter)?.[1] ?? '');
}

function matches(pattern: string | undefined, segment: string): boolean {
  return pattern === segment || pattern?.startsWith(':') === true;
}

function parseRest(rest: string): Pick<CheckInPath, 'target' | 'named' | 'hasSuffix'> {
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const slash = path.indexOf('/');
  if (slash < 0) return { target: withToken(path, null, query), named: null, hasSuffix: false };
  const [first, name] = [path.slice(0, slash), path.slice(slash + 1).replace(/\/$/, '')];
  if (name === '') return { target: withToken(first, null, query), named: null, hasSuffix: false };
  const suffix = parseSuffix(name);
  const target = suffix && withToken(first, suffix, query);
  return { target, named: parseNamed(first, name, query), hasSuffix: true };
}

/** Replaces a key that is in the header. No token is this short. */
const NO_KEY = '-';

/** In percent-encoding: 255 characters of four bytes each. */
const LONGEST_NAME = 255 * 4 * 3;

/** What follows a key is always a name, even if it is `start` or a number; a suffix may follow the name. */
function parseNamed(key: string, rest: string, query: string): Named | null {
  if (key !== NO_KEY && !looksLikeApiKey(key)) return null;
  const [encoded = '', ending, ...more] = rest.split('/');
  const suffix = ending === undefined ? null : parseSuffix(ending);
  if (encoded === '' || encoded.length > LONGEST_NAME || more.length > 0) return null;
  if (ending !== undefined && suffix === null) return null;
  try {
    return { key: key === NO_KEY ? null : key, name: decodeURIComponent(encoded), suffix, query };
  } catch {
    return null;
  }
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
