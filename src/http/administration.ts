/** The server's own endpoints: cases, maintenance, and whether it lives. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { NotFound } from '../core/errors.ts';
import { readAs } from './body.ts';
import { adminCaseChanges, newCase } from './case-schema.ts';
import { found, param, resource } from './resource.ts';
import type { RouteContext } from './route-context.ts';
import { wireCase } from './wire.ts';

export function administrationRoutes(app: FastifyInstance, { store, clock }: RouteContext): void {
  const admin = { audience: 'admin' } as const;
  resource(
    app,
    '/cases',
    {
      GET: async () => (await store.listCases()).map(wireCase),
      POST: async (request) => wireCase(await store.createCase(await readAs(request, newCase), clock())),
    },
    admin,
  );
  resource(
    app,
    '/cases/:id',
    {
      GET: async (request) => wireCase(found(await store.getCase(param(request, 'id')))),
      PATCH: async (request) => {
        const { id } = found(await store.getCase(param(request, 'id')));
        const changed = found(await store.updateCase(id, await readAs(request, adminCaseChanges), clock()));
        while (await store.rescheduleSlice(clock()));
        return wireCase(changed);
      },
      DELETE: async (request, reply) => {
        if (!(await store.deleteCase(param(request, 'id')))) throw new NotFound();
        return reply.code(204).send();
      },
    },
    admin,
  );
  const maintenance = z.object({ enabled: z.boolean({ error: 'must be true or false' }) });
  resource(
    app,
    '/maintenance',
    {
      GET: async () => ({ enabled: (await store.getSetting('maintenance')) === 'on' }),
      PUT: async (request) => {
        const { enabled } = await readAs(request, maintenance);
        await store.setSetting('maintenance', enabled ? 'on' : 'off');
        return { enabled };
      },
    },
    { ...admin, duringMaintenance: true },
  );
}

/** Needs no key: for load balancers and supervisors. */
export function healthRoutes(app: FastifyInstance, { readiness }: RouteContext): void {
  const open = { audience: 'any' } as const;
  resource(app, '/healthz', { GET: async () => ({ status: 'ok' }) }, open);
  resource(
    app,
    '/readyz',
    {
      GET: async (_request, reply) => {
        const problems = readiness();
        if (problems.length === 0) return { status: 'ready' };
        return reply.code(503).header('retry-after', 10).send({ status: 'not ready', problems });
      },
    },
    open,
  );
}
