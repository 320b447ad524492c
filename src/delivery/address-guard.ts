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
 * Addresses at which clouds hand out the credentials of a machine, outside the link-local range: AWS over IPv6,
 * GCP over IPv6, Alibaba, Oracle, Azure's wire server, Scaleway over IPv6.
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
 * Why a webhook must not connect to `address`, or null where it may. An IPv4 address inside an IPv6 one (mapped,
 * 6to4, NAT64, Teredo) is judged as the IPv4 address that it leads to.
 *
 * @param allowPrivate whether addresses that only this host or this network can reach are allowed
 */
export function addressRefusal(address: string, allowPrivate: boolean): string | null {
  if (!ipaddr.isValid(address)) return `${address} is not an IP address`;
  const parsed = ipaddr.parse(address);
  for (const candidate of [parsed, ...embedded(parsed)]) {
    if (METADATA.some(([base, bits]) => candidate.kind() === base.kind() && candidate.match(base, bits))) {
      return `${address} is a cloud metadata address, which webhooks must not reach`;
    }
    if (candidate.range() === 'linkLocal') {
      return `${address} is a link-local address, which webhooks must not reach`;
    }
  }
  if (allowPrivate) return null;
  const [reached = parsed] = embedded(parsed);
  const range: string = reached.range();
  if (range === 'unicast') return null;
  return `${address} is ${IN_WORDS[range] ?? 'a reserved'} address, which webhooks.allow_private forbids`;
}

/** The IPv4 addresses that an IPv6 address stands for. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  const bytes = address.toByteArray();
  const at = (offset: number) => new ipaddr.IPv4(bytes.slice(offset, offset + 4));
  const range: string = address.range();
  switch (range) {
    case 'ipv4Mapped':
    case 'rfc6145':
    case 'rfc6052':
      return [at(12)];
    case '6to4':
      return [at(2)];
    case 'teredo':
      return [new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  }
  // The deprecated form `::a.b.c.d`, of which `::` and `::1` are not.
  const compatible = bytes.slice(0, 12).every((byte) => byte === 0);
  return compatible && range === 'unicast' ? [at(12)] : [];
}

export type Resolve = typeof systemLookup;

/**
 * An undici connector that only ever connects to addresses it has checked: the socket is given the checked answers,
 * so that a name which resolves differently a moment later gains nothing. A name is refused when none of its
 * addresses is allowed.
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
    // A socket never looks a literal address up, so that it is checked here.
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
