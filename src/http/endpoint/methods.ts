/**
 * The methods of HTTP. Each path registers all methods that the router knows, to refuse those it lacks with 405. Node
 * knows more than thirty: registering them all took most of the time of a server's start.
 */
import type { IncomingMessage } from 'node:http';

/** The methods that the router knows. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;

/**
 * A method that is served nowhere. It stands for all methods that the router does not know, which are not served
 * either.
 */
const OTHER = 'TRACE';

const known = new Set<string | undefined>(METHODS);
const asked = new WeakMap<IncomingMessage, string>();

/** Gives the router a method that it knows. */
export function makeRoutable(request: IncomingMessage): void {
  if (known.has(request.method)) return;
  asked.set(request, request.method ?? OTHER);
  request.method = OTHER;
}

/** The method as the client sent it. */
export function methodOf(request: IncomingMessage): string | undefined {
  return asked.get(request) ?? request.method;
}
