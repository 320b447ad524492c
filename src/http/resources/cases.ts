/** `/v1/cases`: all cases of the server, for the administrator. */
import type { FastifyInstance } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import { readAs } from '../endpoint/body.ts';
import { rescheduleForAWhile } from '../endpoint/reschedule.ts';
import { found, param, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireCase } from '../endpoint/wire.ts';
import { adminCaseChanges, newCase } from './case-schema.ts';

export function casesRoutes(app: FastifyInstance, { store, by, clock }: ApiContext): void {
  const admin = { audience: 'admin' } as const;
  resource(
    app,
    '/cases',
    {
      GET: async () => (await store.listCases()).map(wireCase),
      POST: async (request) =>
        wireCase(await by(request).createCase(await readAs(request, newCase), clock())),
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
        const changed = found(
          await by(request).updateCase(id, await readAs(request, adminCaseChanges), clock()),
        );
        await rescheduleForAWhile(store, clock);
        return wireCase(changed);
      },
      DELETE: async (request, reply) => {
        const { id } = found(await store.getCase(param(request, 'id')));
        // Its check-ins and those of other cases go on in between.
        while (await store.emptyCaseSlice(id));
        if (!(await by(request).deleteCase(id))) throw new NotFound();
        return reply.code(204).send();
      },
    },
    admin,
  );
}
