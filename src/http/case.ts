/** `/v1/case`: the settings of the case that the key belongs to. */
import type { FastifyInstance } from 'fastify';
import { caseOf } from './auth.ts';
import { readAs } from './body.ts';
import { caseChanges } from './case-schema.ts';
import { found, resource } from './resource.ts';
import type { RouteContext } from './route-context.ts';
import { wireCase } from './wire.ts';

export function caseRoutes(app: FastifyInstance, { store, clock }: RouteContext): void {
  resource(app, '/case', {
    GET: async (request) => wireCase(caseOf(request)),
    PATCH: async (request) => {
      const changes = await readAs(request, caseChanges);
      const changed = found(await store.updateCase(caseOf(request).id, changes, clock()));
      while (await store.rescheduleSlice(clock()));
      return wireCase(changed);
    },
  });
}
