/** `/v1/alerts`: the alerts of the whole case, and those of one snitch. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Case } from '../../core/case.ts';
import { caseOf } from '../endpoint/auth.ts';
import { isAlertId, pageOf, slicesOf } from '../endpoint/page.ts';
import { resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { namesIn } from '../endpoint/target-names.ts';
import { wireAlert } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function alertRoutes(app: FastifyInstance, { store, lists }: ApiContext): void {
  async function list(
    request: FastifyRequest,
    reply: FastifyReply,
    { id: caseId, timezone }: Pick<Case, 'id' | 'timezone'>,
    token: string | null,
  ) {
    const page = pageOf(request, isAlertId);
    const nameOf = await namesIn(store, caseId);
    const read = slicesOf(
      page,
      (slice) => store.listAlerts(caseId, token, slice),
      ({ alert: { id, at } }) => ({ id, at }),
      ({ alert, deliveries }) => wireAlert(alert, deliveries, { nameOf, timezone }),
    );
    return lists.send(request, reply, read);
  }
  resource(app, '/alerts', {
    GET: async (request, reply) => list(request, reply, caseOf(request), null),
  });
  resource(app, '/snitches/:token/alerts', {
    GET: async (request, reply) => {
      const { token } = await requestedSnitch(store, request);
      return list(request, reply, caseOf(request), token);
    },
  });
}
