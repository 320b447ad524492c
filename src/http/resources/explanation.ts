/** `/v1/snitches/:token/explain`: why a snitch alerts or is silent, when it will alert, and whom that reaches. */
import type { FastifyInstance } from 'fastify';
import { explain } from '../../core/explanation/explain.ts';
import { passedOverReasons, whyNobody } from '../../core/explanation/told.ts';
import { Calendar } from '../../core/interval.ts';
import { needOf } from '../../core/needs/needs.ts';
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
      const ownCase = caseOf(request);
      const { token, state } = snitch;
      const [learned, runs, values, postponements, webhooks, channels, [last]] = await Promise.all([
        store.findLearned(token),
        store.findRuns(token),
        store.findValues(ownCase.id, token),
        store.listPostponements(ownCase.id, token, state.postponed),
        store.listWebhooks(ownCase.id),
        store.listChannels(ownCase.id),
        // An alert that was decided while the clock was ahead does not count as the last one until its time comes.
        store.listAlerts(ownCase.id, token, { limit: 1, before: { at: clock() + 1 } }),
      ]);
      const audience = audienceOf(snitch, ownCase, { webhooks, channels }, sendsEmail());
      const telling = {
        nobody: whyNobody(audience),
        others: passedOverReasons(audience),
        last: last ? toldAlert(last, targetNames(webhooks, channels)) : null,
      };
      const explanation = explain(state, {
        rules: ownCase,
        calendar,
        now: clock(),
        ...learned,
        postponements,
        values,
        telling,
        runs,
        needs: {
          needs: snitch.needs,
          hold: snitch.hold,
          names: await namesOf(store, ownCase.id, snitch.needs),
        },
      });
      return wireExplanation(snitch, ownCase, explanation, { audience, runs, values });
    },
  });
}

/** The names of the snitches that are needed, by token. */
async function namesOf(
  store: RouteContext['store'],
  caseId: string,
  needs: readonly string[],
): Promise<Map<string, string>> {
  const tokens = needs.map(needOf).flatMap((need) => ('token' in need ? [need.token] : []));
  const found = await Promise.all(tokens.map((token) => store.getSnitch(caseId, token)));
  return new Map(found.filter((one) => one !== null).map(({ token, name }) => [token, name]));
}
