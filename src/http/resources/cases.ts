/** `/v1/cases`: all cases of the server, for the administrator. */
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { forAWhile } from '../endpoint/for-a-while.ts';
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
        await forAWhile(() => store.rescheduleSlice(clock()));
        return wireCase(changed);
      },
      DELETE: async (request, reply) => {
        const { id } = found(await store.getCase(param(request, 'id')));
        await store.planDeletion(id, actorOf(request));
        // Its check-ins and those of other cases go on in between.
        const isEmpty = await forAWhile(() => store.emptyCaseSlice(id));
        // Otherwise the sweep does what is left.
        if (isEmpty) await by(request).deleteCase(id);
        return reply.code(204).send();
      },
    },
    admin,
  );
}
