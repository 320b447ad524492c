/** `/v1/snitches/:token/check_ins`: the stored check-ins of a snitch, newest first. */
import type { FastifyInstance } from 'fastify';
import { isNumericId, pageOf, slicesOf } from '../endpoint/page.ts';
import { found, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireCheckIn } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function checkInRoutes(app: FastifyInstance, { store, lists }: ApiContext): void {
  resource(app, '/snitches/:token/check_ins', {
    GET: async (request, reply) => {
      const { token, caseId } = await requestedSnitch(store, request);
      const page = pageOf(request, isNumericId);
      const read = slicesOf(
        page,
        async (slice) => found(await store.listCheckIns(caseId, token, slice)),
        ({ id }) => ({ id: String(id), at: null }),
        wireCheckIn,
      );
      return lists.send(request, reply, read);
    },
  });
}
