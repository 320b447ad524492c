/** `/v1/snitches/:token/explain`: why a snitch alerts or is silent, when it will alert, and whom that reaches. */
import type { FastifyInstance } from 'fastify';
import { explain } from '../../core/explain.ts';
import { Calendar } from '../../core/interval.ts';
import { whyNobody } from '../../core/told.ts';
import { caseOf } from '../endpoint/auth.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { audienceOf, targetNames, toldAlert, wireExplanation } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function explanationRoutes(app: FastifyInstance, { store, clock, sendsEmail }: RouteContext): void {
  const calendar = new Calendar();
  resource(app, '/snitches/:token/explain', {
    GET: async (request) => {
      const snitch = await requestedSnitch(store, request);
      const owner = caseOf(request);
      const { token, state } = snitch;
      const [firstCheckIns, postponements, webhooks, [last]] = await Promise.all([
        store.listFirstCheckIns(token),
        store.listPostponements(owner.id, token, state.postponed),
        store.listWebhooks(owner.id),
        // One that a clock decided which ran ahead is not the last one until its time comes.
        store.listAlerts(owner.id, token, { limit: 1, before: { at: clock() + 1 } }),
      ]);
      const audience = audienceOf(snitch, owner, webhooks, sendsEmail());
      const telling = {
        nobody: whyNobody(audience),
        last: last ? toldAlert(last, targetNames(webhooks)) : null,
      };
      const explanation = explain(state, {
        rules: owner,
        calendar,
        now: clock(),
        firstCheckIns,
        postponements,
        telling,
      });
      return wireExplanation(snitch, owner, explanation, { audience, last: last?.alert ?? null });
    },
  });
}
