/** Recognises requests that were made on this host and meant for it. They may read the metrics without a key. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface Asked {
  /** The address that the request came from; null over a socket file, which only this host has. */
  source: string | null;
  /** Whether it came from a trusted proxy, which asks on behalf of others. */
  isProxied: boolean;
  baseUrl: string;
}

/** Headers in which proxies name the client. */
const FORWARDING =
  /^(?:x-forwarded(?:-.*)?|x-original-forwarded-for|forwarded(?:-for)?|via|x-real-ip|(?:x-)?client-ip|x-cluster-client-ip|true-client-ip|[a-z]+-connecting-ip|x-proxyuser-ip)$/;

/** Names that every resolver maps to this host. */
const NAMES = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/**
 * The source address alone proves nothing, because a proxy on this host forwards the requests of strangers. If no
 * header gives it away, then the requested host name does, or HTTP/1.0, which some proxies speak unless they are
 * configured otherwise. The name also gives away a web page whose domain was made to resolve to loopback.
 */
export function isFromThisHost(request: IncomingMessage, { source, isProxied, baseUrl }: Asked): boolean {
  if (source !== null && ipaddr.process(source).range() !== 'loopback') return false;
  if (request.httpVersion === '1.0') return false;
  if (Object.keys(request.headers).some((name) => FORWARDING.test(name))) return false;
  const name = nameIn(`http://${request.headers.host ?? ''}`);
  if (name === null) return false;
  return isLoopbackName(name) || (!isProxied && name === nameIn(baseUrl));
}

function isLoopbackName(name: string): boolean {
  const address = name.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() === 'loopback';
  return NAMES.test(name);
}

/** The host of a URL, without its port. */
function nameIn(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') || null : null;
}
