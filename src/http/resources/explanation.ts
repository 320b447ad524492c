/** `/v1/snitches/:token/explain`: why a snitch alerts or is silent, when it will alert, and whom that reaches. */
import type { FastifyInstance } from 'fastify';
import { explain } from '../../core/explanation/explain.ts';
import { passedOverReasons, whyNobody } from '../../core/explanation/told.ts';
import { Calendar } from '../../core/interval.ts';
import { isAwaited, type SnitchState } from '../../core/snitch.ts';
import type { SilenceOver } from '../../store/silences.ts';
import { caseOf } from '../endpoint/auth.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { shownSilence } from '../endpoint/silenced.ts';
import { audienceOf, targetNames, toldAlert, wireExplanation } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function explanationRoutes(app: FastifyInstance, { store, clock, sendsEmail }: RouteContext): void {
  const calendar = new Calendar();
  resource(app, '/snitches/:token/explain', {
    GET: async (request) => {
      const snitch = await requestedSnitch(store, request);
      const ownCase = caseOf(request);
      const { token } = snitch;
      const silences = await store.silenceOver(ownCase.id, token, clock());
      const state = inSilence(snitch.state, silences);
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
        ...silenceFacts(silences, snitch.state),
      });
      const silenced = silences?.silenced;
      const shown = silenced ? { ...snitch, silenced: shownSilence(silenced) } : snitch;
      return wireExplanation(shown, ownCase, explanation, { audience, runs, values });
    },
  });
}

/** When it is due where silences are allowed for; a reminder that comes in one waits for its end. */
function inSilence(state: SnitchState, over: SilenceOver | null): SnitchState {
  if (!over) return state;
  if (isAwaited(state)) return { ...state, dueAt: over.dueAt };
  if (state.status !== 'failed' || state.dueAt === null || !over.silenced) return state;
  return { ...state, dueAt: Math.max(state.dueAt, over.silenced.until) };
}

function silenceFacts(over: SilenceOver | null, { dueAt }: SnitchState) {
  if (!over) return {};
  const { silenced, isKeptBack } = over;
  if (!silenced) return { isMovedBySilence: over.dueAt !== dueAt };
  const { by, note } = silenced.silence;
  return { silence: { until: silenced.until, by, note, isKeptBack } };
}
