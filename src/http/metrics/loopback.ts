/** Whether a request was made on this host and meant for this host: then it may read the metrics, without a key. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface Asked {
  /** The address that the request came from; null over a socket file, which only this host has. */
  source: string | null;
  /** Whether it came from a trusted proxy, which asks on behalf of others. */
  isProxied: boolean;
  baseUrl: string;
}

/** Headers by which proxies say for whom they ask. */
const FORWARDING =
  /^(?:x-forwarded(?:-.*)?|x-original-forwarded-for|forwarded(?:-for)?|via|x-real-ip|(?:x-)?client-ip|x-cluster-client-ip|true-client-ip|[a-z]+-connecting-ip|x-proxyuser-ip)$/;

/** Names that every resolver leads to this host. */
const NAMES = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/**
 * The address alone is not enough, because a proxy on this host passes on what strangers ask. Where no header says so,
 * its request differs from a local one by the host name that was asked for, or by being HTTP/1.0, which some proxies
 * use unless they are told otherwise. A web page whose name was made to lead to loopback is also found out by its name.
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
