/** `/v1/api_keys`: a case's key manages the keys of its case, an admin key those of the server and of any case. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Invalid, NotFound } from '../../core/errors.ts';
import { MOST_API_KEYS } from '../../core/resource-limits.ts';
import { readAs } from '../endpoint/body.ts';
import { found, param, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireApiKey } from '../endpoint/wire.ts';
import { line } from './case-schema.ts';

const newKey = z.object({
  name: line(255),
  scope: z
    .enum(['read', 'write', 'provision'], { error: 'must be read, write or provision' })
    .default('write'),
});

const newAdminKey = z.object({
  name: line(255),
  scope: z
    .literal('admin', { error: 'must be admin: the keys of a case are made below it' })
    .default('admin'),
});

/** The caller's own keys: those of its case, or those of the server. */
export function apiKeyRoutes(app: FastifyInstance, { store, by, clock }: ApiContext): void {
  resource(
    app,
    '/api_keys',
    {
      GET: async (request) => (await store.listApiKeys(request.caller?.case?.id ?? null)).map(wireApiKey),
      POST: async (request) => {
        const caseId = request.caller?.case?.id ?? null;
        const wanted = await readAs(request, caseId === null ? newAdminKey : newKey);
        const { apiKey, key } = await by(request).createApiKey({ caseId, ...wanted }, clock(), MOST_API_KEYS);
        return { ...wireApiKey(apiKey), key };
      },
    },
    { audience: 'member' },
  );
  resource(
    app,
    '/api_keys/:id',
    {
      DELETE: async (request, reply) => {
        const id = param(request, 'id');
        if (id === request.caller?.apiKey.id) {
          throw new Invalid([{ attribute: 'id', message: 'a key cannot delete itself: use another key' }]);
        }
        if (!(await by(request).deleteApiKey(request.caller?.case?.id ?? null, id))) throw new NotFound();
        return reply.code(204).send();
      },
    },
    { audience: 'member' },
  );
}

/** The keys of a case, for the administrator. */
export function keysOfCaseRoutes(app: FastifyInstance, { store, by, clock }: ApiContext): void {
  resource(
    app,
    '/cases/:id/api_keys',
    {
      GET: async (request) => {
        const { id } = found(await store.getCase(param(request, 'id')));
        return (await store.listApiKeys(id)).map(wireApiKey);
      },
      POST: async (request) => {
        const { id: caseId } = found(await store.getCase(param(request, 'id')));
        const { apiKey, key } = await by(request).createApiKey(
          { caseId, ...(await readAs(request, newKey)) },
          clock(),
          MOST_API_KEYS,
        );
        return { ...wireApiKey(apiKey), key };
      },
    },
    { audience: 'admin' },
  );
}
