/** `/v1/snitches/:token/explain`: why a snitch alerts or is silent, when it will alert, and whom that reaches. */
import type { FastifyInstance } from 'fastify';
import { explain } from '../../core/explanation/explain.ts';
import { passedOverReasons, whyNobody } from '../../core/explanation/told.ts';
import { Calendar } from '../../core/interval.ts';
import type { Snitch } from '../../core/snitch.ts';
import type { Store } from '../../store/store.ts';
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
      const [learned, runs, values, postponements, webhooks, channels, [last], pausedBy] = await Promise.all([
        store.findLearned(token),
        store.findRuns(token),
        store.findValues(ownCase.id, token),
        store.listPostponements(ownCase.id, token, state.postponed),
        store.listWebhooks(ownCase.id),
        store.listChannels(ownCase.id),
        // An alert that was decided while the clock was ahead does not count as the last one until its time comes.
        store.listAlerts(ownCase.id, token, { limit: 1, before: { at: clock() + 1 } }),
        pauserOf(store, snitch),
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
        pausedBy,
      });
      return wireExplanation(snitch, ownCase, explanation, { audience, runs, values });
    },
  });
}

/** Who paused it, or changed until when it is paused. */
async function pauserOf(
  store: Pick<Store, 'listActivity'>,
  { caseId, token, state: { pause } }: Snitch,
): Promise<{ name: string; at: number } | null> {
  if (!pause) return null;
  const filter = { subjectId: token, action: 'snitch.paused' } as const;
  const [last] = await store.listActivity(caseId, { ...filter, limit: 1, before: null });
  // An entry from before this pause is about another one. A pause that does not know its beginning is older than the log.
  if (!last || last.at < (pause.since ?? Number.NEGATIVE_INFINITY)) return null;
  return { name: last.by.name, at: last.at };
}
