import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Answers which address a request came from. Behind a trusted proxy that is the last address of `X-Forwarded-For`
 * that is no trusted proxy itself; from anybody else the header means nothing. It is null for a client on this host
 * that comes over a socket file, which has no address.
 *
 * @param trustedProxies addresses or CIDR ranges; loopback among them stands for the socket file too
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

/** Answers whether a request came from a trusted proxy, whatever it says of its own source. */
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

/** The address in its usual form; some proxies write its port behind it. */
function parseForwarded(text: string): string | null {
  const item = text.trim();
  const found = /^\[([^\]]+)\](?::\d+)?$/.exec(item) ?? /^([\d.]+):\d+$/.exec(item);
  const address = found?.[1] ?? item;
  return isIP(address) === 0 ? null : ipaddr.process(withoutInterface(address)).toString();
}

/** A peer's address, and an IPv4 one that arrived on an IPv6 socket as IPv4. */
function plain(peer: string): string {
  const address = withoutInterface(peer);
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** A link-local address may end with its network interface, whose name not every parser takes. */
function withoutInterface(address: string): string {
  const end = address.indexOf('%');
  return end < 0 ? address : address.slice(0, end);
}
