/** Whether a request was made on this host and for this host, which opens the one door that needs no key. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface Asked {
  /** The address that the request came from; null over a socket file, which only this host has. */
  source: string | null;
  /** Whether a trusted proxy sent it, which speaks for others. */
  isProxied: boolean;
  baseUrl: string;
}

/** Headers by which proxies say for whom they ask. */
const FORWARDING =
  /^(?:x-forwarded(?:-.*)?|x-original-forwarded-for|forwarded(?:-for)?|via|x-real-ip|(?:x-)?client-ip|x-cluster-client-ip|true-client-ip|[a-z]+-connecting-ip|x-proxyuser-ip)$/;

/** Names that every resolver leads to this host. */
const NAMES = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/**
 * The address alone would not do. A proxy on this host sends what strangers ask, and where it does not say so, its
 * request differs from a local one by the name that was asked for, or by the version of HTTP that proxies use unless
 * they are told otherwise. A page whose name is made to lead to loopback asks by that name too.
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
