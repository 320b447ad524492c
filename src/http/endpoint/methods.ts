/**
 * The methods of HTTP. Each path registers all that the router knows, to refuse with 405 those that it lacks. Node knows
 * more than thirty: as the router's own they were most of the time that a server takes to begin.
 */
import type { IncomingMessage } from 'node:http';

/** What the router knows. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;

/** Served nowhere. It stands for every method that the router does not know, which are served nowhere either. */
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
