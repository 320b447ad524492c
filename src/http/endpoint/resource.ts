import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Invalid, NotFound, SnitchError } from '../../core/errors.ts';
import type { Checked } from '../../core/validation.ts';
import type { Audience } from './auth.ts';
import { methodOf } from './methods.ts';

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
  const config = { audience, duringMaintenance, anySite, bearer, besideTokens };
  const allowed = Object.keys(handlers) as HTTPMethods[];
  if (handlers.GET) allowed.push('HEAD');
  for (const [method, handler] of Object.entries(handlers)) {
    app.route({ method: method as HTTPMethods, url, handler, config });
  }
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    config: { ...config, audience: 'any' },
    handler: async (request, reply) => {
      reply.header('allow', allowed.join(', '));
      throw new SnitchError(
        'method_not_allowed',
        `${methodOf(request.raw)} is not possible here; ${allowed.join(', ')} is.`,
      );
    },
  });
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
