/** `/v1/case`: the settings of the case that the key belongs to. */
import type { FastifyInstance } from 'fastify';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { found, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireCase } from '../endpoint/wire.ts';
import { caseChanges } from './case-schema.ts';

export function caseRoutes(app: FastifyInstance, { store, by, clock }: ApiContext): void {
  resource(app, '/case', {
    GET: async (request) => wireCase(caseOf(request)),
    PATCH: async (request) => {
      const changes = await readAs(request, caseChanges);
      const changed = found(await by(request).updateCase(caseOf(request).id, changes, clock()));
      while (await store.rescheduleSlice(clock()));
      return wireCase(changed);
    },
  });
}
