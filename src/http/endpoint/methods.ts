/**
 * The methods of HTTP. Every path answers every method, if only with 405, so the router finds the same under each: it is
 * given all requests under one method, and the paths look at the method themselves. Registering each path once instead
 * of under each method saves most of the time of a server's start.
 */
import type { IncomingMessage } from 'node:http';

/** The methods that a path may have, and one that stands for all others. Node knows more than thirty. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;

/** The method under which the router knows every path. */
export const ROUTED = 'GET';

/** A method that is served nowhere. It stands for all that are not in `METHODS`, which are not served either. */
const OTHER = 'TRACE';

const known = new Set<string | undefined>(METHODS);
const asked = new WeakMap<IncomingMessage, string>();

/** Gives the router the method that it knows. */
export function makeRoutable(request: IncomingMessage): void {
  if (request.method === ROUTED) return;
  asked.set(request, request.method ?? OTHER);
  request.method = ROUTED;
}

/** Gives a request that has been routed its method back, or the one that stands for it. */
export function restoreMethod(request: IncomingMessage): void {
  const method = asked.get(request);
  if (method !== undefined) request.method = known.has(method) ? method : OTHER;
}

/** The method as the client sent it. */
export function methodOf(request: IncomingMessage): string | undefined {
  return asked.get(request) ?? request.method;
}
