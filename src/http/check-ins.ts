/** `/v1/snitches/:token/check_ins`: the check-ins of a snitch that are kept, newest first. */
import type { FastifyInstance } from 'fastify';
import { isNumericId, pageOf, slicesOf } from './page.ts';
import { found, resource } from './resource.ts';
import type { ApiContext } from './route-context.ts';
import { requestedSnitch } from './snitches.ts';
import { wireCheckIn } from './wire.ts';

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
