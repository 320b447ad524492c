/** `/v1/ownership`: which file a snitch is managed in. Beyond the contract. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { WireOwnership } from '../../api/wire.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { owner, tokens } from './import-schema.ts';

const claim = z.object({ owner, tokens });

export function ownershipRoutes(app: FastifyInstance, { store, by, lists }: ApiContext): void {
  resource(app, '/ownership', {
    GET: async (request, reply) => {
      const { id } = caseOf(request);
      return lists.send<WireOwnership, number>(request, reply, async (limit, after) => {
        const { owned, next } = await store.listOwnership(id, { after: after ?? 0, limit });
        return { items: owned, next };
      });
    },
    PUT: async (request, reply) => {
      const wanted = await readAs(request, claim);
      await by(request).setOwnership(caseOf(request).id, wanted.tokens, wanted.owner);
      return reply.code(204).send();
    },
  });
}
