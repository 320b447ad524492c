import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Tells which address a request came from. Behind a trusted proxy that is the last address in `X-Forwarded-For` that
 * is not a trusted proxy itself; from anybody else the header means nothing. A client on this host that uses a
 * socket file has no address: null.
 *
 * @param trustedProxies addresses or CIDR ranges; loopback among them includes the socket file
 */
export function createSourceReader(trustedProxies: readonly string[]) {
  const ranges = trustedProxies.map(parseRange);
  return function sourceOf(request: IncomingMessage): string | null {
    let source = peerOf(request);
    if (ranges.length === 0) return source;
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (isTrusted(source, ranges)) {
      const previous = parseForwarded(forwarded.pop() ?? '');
      if (previous === null) break;
      source = previous;
    }
    return source;
  };
}

/** Tells whether a request came from a trusted proxy, whatever it says about its own source. */
export function createProxyTest(trustedProxies: readonly string[]) {
  const ranges = trustedProxies.map(parseRange);
  return (request: IncomingMessage): boolean => isTrusted(peerOf(request), ranges);
}

function peerOf({ socket }: IncomingMessage): string | null {
  const peer = socket.remoteAddress ?? null;
  return peer === null ? null : plain(peer);
}

function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isTrusted(source: string | null, ranges: readonly Range[]): boolean {
  if (source === null) return isTrusted('127.0.0.1', ranges) || isTrusted('::1', ranges);
  const address = ipaddr.process(source);
  return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

/** The address in its usual form. Some proxies append the port. */
function parseForwarded(text: string): string | null {
  const item = text.trim();
  const found = /^\[([^\]]+)\](?::\d+)?$/.exec(item) ?? /^([\d.]+):\d+$/.exec(item);
  const address = found?.[1] ?? item;
  return isIP(address) === 0 ? null : ipaddr.process(withoutInterface(address)).toString();
}

/** A peer's address. An IPv4 address that arrived on an IPv6 socket is shown as IPv4. */
function plain(peer: string): string {
  const address = withoutInterface(peer);
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** A link-local address may end with the name of its network interface, which not every parser accepts. */
function withoutInterface(address: string): string {
  const end = address.indexOf('%');
  return end < 0 ? address : address.slice(0, end);
}
