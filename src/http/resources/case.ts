/** `/v1/case`: the settings of the case that the key belongs to. */
import type { FastifyInstance } from 'fastify';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { forAWhile } from '../endpoint/for-a-while.ts';
import { found, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireCase } from '../endpoint/wire.ts';
import { caseChanges } from './case-schema.ts';

export function caseRoutes(app: FastifyInstance, { store, by, clock, version = '0' }: ApiContext): void {
  resource(app, '/case', {
    GET: async (request, reply) => {
      const own = caseOf(request);
      // These show somebody with several servers which one this is, and what the key may do there.
      reply.header('snitch-version', version).header('snitch-scope', request.caller?.apiKey.scope ?? '');
      return wireCase(own);
    },
    PATCH: async (request) => {
      const changes = await readAs(request, caseChanges);
      const changed = found(await by(request).updateCase(caseOf(request).id, changes, clock()));
      await forAWhile(() => store.rescheduleSlice(clock()));
      return wireCase(changed);
    },
  });
}
