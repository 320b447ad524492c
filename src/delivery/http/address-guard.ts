/** Which addresses a webhook must not reach (`decisions: Alerts`), checked when a connection is made. */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The target's address is one that webhooks must not reach. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Addresses, outside the link-local range, at which clouds hand out the credentials of a machine: AWS over
 * IPv6, GCP over IPv6, Alibaba, Oracle, Azure's wire server, Scaleway over IPv6.
 */
const METADATA = [
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:42::42/128',
].map((cidr) => ipaddr.parseCIDR(cidr));

const IN_WORDS: Record<string, string> = {
  unspecified: 'an unspecified',
  broadcast: 'a broadcast',
  multicast: 'a multicast',
  loopback: 'a loopback',
  private: 'a private',
  uniqueLocal: 'a private',
  deprecatedSiteLocal: 'a private',
  carrierGradeNat: 'a carrier-grade NAT',
};

/**
 * Why a webhook must not connect to `address`, or null if it may. If an IPv6 address may stand for an IPv4 one, that
 * one is checked too, because the connection leads there.
 *
 * @param allowPrivate whether addresses that only this host or this network can reach are allowed
 */
export function addressRefusal(address: string, allowPrivate: boolean): string | null {
  if (!ipaddr.isValid(address)) return `${address} is not an IP address`;
  const parsed = ipaddr.parse(address);
  const inside = embedded(parsed);
  for (const candidate of [parsed, ...inside]) {
    if (METADATA.some(([base, bits]) => candidate.kind() === base.kind() && candidate.match(base, bits))) {
      return `${address} is a cloud metadata address, which webhooks must not reach`;
    }
    if (candidate.range() === 'linkLocal') {
      return `${address} is a link-local address, which webhooks must not reach`;
    }
  }
  if (allowPrivate) return null;
  // An address that is only translated to IPv4 is judged by the IPv4 address alone, any other by itself too.
  const reached = inside.length > 0 && TRANSLATED.has(parsed.range()) ? inside : [parsed, ...inside];
  const range = reached.map((candidate): string => candidate.range()).find((found) => found !== 'unicast');
  if (range === undefined) return null;
  return `${address} is ${IN_WORDS[range] ?? 'a reserved'} address, which webhooks.allow_private forbids`;
}

/** As `addressRefusal`, for a URL whose host is an address. Where a name leads is known only when it is called. */
export function urlRefusal(url: string, allowPrivate: boolean): string | null {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return isIP(host) ? addressRefusal(host, allowPrivate) : null;
}

/** IPv6 ranges without hosts of their own: what is sent there goes to the IPv4 address inside. */
const TRANSLATED = new Set<string>(['ipv4Mapped', 'rfc6145', 'rfc6052', '6to4', 'teredo']);

/** The octets in which RFC 6052 puts an IPv4 address after a prefix of 96, 64, 56 and 48 bits; octet 8 is skipped. */
const BEHIND_PREFIX = [
  [12, 13, 14, 15],
  [9, 10, 11, 12],
  [7, 9, 10, 11],
  [6, 7, 9, 10],
];

/** The IPv4 addresses that an IPv6 address may stand for. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  const bytes = address.toByteArray();
  const at = (...offsets: number[]) => new ipaddr.IPv4(offsets.map((offset) => bytes[offset] ?? 0));
  const last = at(12, 13, 14, 15);
  const range: string = address.range();
  // Every ISATAP address has these octets before the IPv4 address, whatever network it is in.
  const isatap = ((bytes[8] ?? 0) & 0xfc) === 0 && [bytes[9], bytes[10], bytes[11]].join() === '0,94,254';
  const found = isatap ? [last] : [];
  if (range === 'ipv4Mapped' || range === 'rfc6145') found.push(last);
  else if (range === '6to4') found.push(at(2, 3, 4, 5));
  else if (range === 'teredo') found.push(new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff)));
  else if (range === 'rfc6052') found.push(...translated(bytes, at));
  // The deprecated form `::a.b.c.d`, which does not include `::` and `::1`.
  else if (range === 'unicast' && bytes.slice(0, 12).every((byte) => byte === 0)) found.push(last);
  return found;
}

/**
 * `64:ff9b::/96` has one place for the IPv4 address. `64:ff9b:1::/48` is for local use, with a prefix whose length only
 * the translator knows: the address in every place counts, except one that begins with 0, which nothing connects to.
 */
function translated(bytes: number[], at: (...offsets: number[]) => ipaddr.IPv4): ipaddr.IPv4[] {
  const isWellKnown = bytes[4] === 0 && bytes[5] === 0;
  const places = (isWellKnown ? BEHIND_PREFIX.slice(0, 1) : BEHIND_PREFIX).map((offsets) => at(...offsets));
  const meant = places.filter((candidate) => candidate.octets[0] !== 0);
  return meant.length > 0 ? meant : places;
}

export type Resolve = typeof systemLookup;

/**
 * An undici connector that only ever connects to addresses it has checked: the socket is given the checked answers,
 * so a name that resolves differently a moment later gains nothing. A name is refused when none of its addresses is
 * allowed.
 */
export function guardedConnector(options: {
  allowPrivate: boolean;
  /** For the connection alone, in milliseconds. */
  timeout: number;
  resolve?: Resolve;
}): buildConnector.connector {
  const { allowPrivate, timeout, resolve = systemLookup } = options;
  const connect = buildConnector({ timeout, allowH2: false, lookup: guardedLookup(resolve, allowPrivate) });
  return (target, callback) => {
    // A literal address is never looked up, so it is checked here.
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const refusal = isIP(host) ? addressRefusal(host, allowPrivate) : null;
    if (refusal) callback(new AddressRefused(refusal), null);
    else connect(target, callback);
  };
}

function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, { all, ...options }, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const refusals = found.map(({ address }) => addressRefusal(address, allowPrivate));
      const allowed = found.filter((_, index) => refusals[index] === null);
      const [first] = allowed;
      if (!first) {
        return done(new AddressRefused(`${hostname} has no allowed address: ${refusals[0] ?? 'none'}`), '');
      }
      if (all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}
