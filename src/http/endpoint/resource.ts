import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Invalid, NotFound, SnitchError } from '../../core/errors.ts';
import type { Checked } from '../../core/validation.ts';
import type { Audience } from './auth.ts';
import { methodOf, ROUTED } from './methods.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

export type Handlers = Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', Handler>>;

/** One path with all its methods. Every other method is answered 405, with the list of those that exist. */
export function resource(
  app: FastifyInstance,
  url: string,
  handlers: Handlers,
  options: {
    audience?: Audience;
    duringMaintenance?: boolean;
    anySite?: boolean;
    bearer?: boolean;
    besideTokens?: RegExp;
  } = {},
): void {
  const { audience = 'case', duringMaintenance = false, anySite = false, bearer = false } = options;
  const { besideTokens } = options;
  const methods = Object.keys(handlers);
  if (handlers.GET) methods.push('HEAD');
  const config = { audience, methods, duringMaintenance, anySite, bearer, besideTokens };
  const byMethod = new Map<string, Handler | undefined>(Object.entries(handlers));
  byMethod.set('HEAD', handlers.GET);
  app.route({
    method: ROUTED,
    url,
    config,
    handler: async (request, reply) => {
      const handler = byMethod.get(request.method);
      return handler ? handler(request, reply) : refuseMethod(request, reply, methods);
    },
    ...(handlers.GET && { onSend: withoutBody }),
  });
}

function refuseMethod(request: FastifyRequest, reply: FastifyReply, methods: readonly string[]): never {
  const allowed = methods.join(', ');
  reply.header('allow', allowed);
  const method = methodOf(request.raw);
  throw new SnitchError('method_not_allowed', `${method} is not possible here; possible: ${allowed}.`);
}

/** The answer to HEAD is that to GET, with the length of the body instead of the body, where that is known. */
async function withoutBody({ method }: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (method !== 'HEAD') return payload;
  if (payload instanceof Readable) payload.destroy();
  else reply.header('content-length', Buffer.byteLength((payload ?? '') as string | Buffer));
  return null;
}

/** A named part of the path. */
export function param(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string | undefined>)[name] ?? '';
}

/** A parameter of the query, the first one if it is repeated; undefined if it is absent or empty. */
export function query(request: FastifyRequest, name: string): string | undefined {
  const given = (request.query as Record<string, string | string[] | undefined>)[name];
  return (Array.isArray(given) ? given[0] : given) || undefined;
}

/** @throws Invalid with what is wrong with the value */
export function valid<T>({ value, validations }: Checked<T>): T {
  if (validations) throw new Invalid(validations);
  return value as T;
}

/** @throws NotFound if the store did not have it */
export function found<T>(value: T | null): T {
  if (value === null) throw new NotFound();
  return value;
}
