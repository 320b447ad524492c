import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Answers which address a request came from. Behind a trusted proxy that is the last address of `X-Forwarded-For`
 * that is no trusted proxy itself; from anybody else the header means nothing.
 *
 * @param trustedProxies addresses or CIDR ranges
 */
export function createSourceReader(trustedProxies: readonly string[]) {
  const ranges = trustedProxies.map(parseRange);
  return function sourceOf(request: IncomingMessage): string | null {
    const peer = request.socket.remoteAddress;
    if (peer === undefined) return null;
    if (ranges.length === 0) return plain(peer);
    let source = peer;
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (isTrusted(source, ranges)) {
      const previous = forwarded.pop()?.trim();
      if (!previous || !ipaddr.isValid(previous)) break;
      source = previous;
    }
    return plain(source);
  };
}

function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isTrusted(text: string, ranges: readonly Range[]): boolean {
  const address = ipaddr.process(text);
  return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

/** An IPv4 address that arrived on an IPv6 socket, as IPv4. */
function plain(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
