/** `/v1/snitches/:token/explain`: why a snitch alerts or is silent, when it will alert, and whom that reaches. */
import type { FastifyInstance } from 'fastify';
import type { Case } from '../../core/case.ts';
import { audienceOf } from '../../core/explanation/audience.ts';
import { explain, type Telling } from '../../core/explanation/explain.ts';
import {
  type Audience,
  audienceReasons,
  failingReasons,
  type ToldAlert,
  whyNobody,
} from '../../core/explanation/told.ts';
import { Calendar } from '../../core/interval.ts';
import { needOf } from '../../core/needs/needs.ts';
import { isAwaited, type Snitch, type SnitchState } from '../../core/snitch.ts';
import type { SilenceOver } from '../../store/silences.ts';
import type { Store } from '../../store/store.ts';
import { inTimeZone } from '../../text/times.ts';
import { caseOf } from '../endpoint/auth.ts';
import { failuresBy } from '../endpoint/failing-targets.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { shownSilence } from '../endpoint/silenced.ts';
import { targetNames, toldAlert } from '../endpoint/target-names.ts';
import { wireExplanation } from '../endpoint/wire.ts';
import { requestedSnitch } from './snitches.ts';

export function explanationRoutes(app: FastifyInstance, { store, clock, sendsEmail }: RouteContext): void {
  const calendar = new Calendar();
  resource(app, '/snitches/:token/explain', {
    GET: async (request) => {
      const snitch = await requestedSnitch(store, request);
      const ownCase = caseOf(request);
      const { token } = snitch;
      const now = clock();
      const [silences, prospect] = await Promise.all([
        store.silenceOver(ownCase.id, token, now),
        store.findProspect(ownCase.id, token, now),
      ]);
      const nextAlertAt = prospect?.nextAlertAt ?? null;
      const state = inSilence(snitch.state, silences);
      const [learned, runs, values, postponements, { audience, nameOf }, [last], pausedBy] =
        await Promise.all([
          store.findLearned(token),
          store.findRuns(token),
          store.findValues(ownCase.id, token),
          store.listPostponements(ownCase.id, token, state.postponed),
          findAudience(store, snitch, ownCase, { now, sendsEmail: sendsEmail(), nextAlertAt }),
          // An alert that was decided while the clock was ahead does not count as the last one until its time comes.
          store.listAlerts(ownCase.id, token, { limit: 1, before: { at: now + 1 } }),
          pauserOf(store, snitch),
        ]);
      const telling = tellingOf(audience, state, last ? toldAlert(last, nameOf) : null);
      const explanation = explain(state, {
        rules: ownCase,
        calendar,
        now,
        ...learned,
        postponements,
        values,
        telling,
        runs,
        nextAlertAt,
        planned: prospect?.planned ?? null,
        ...silenceFacts(silences, snitch.state),
        needs: { ...(await needsOf(store, snitch)), down: prospect?.down ?? null },
        pausedBy,
      });
      const silenced = silences?.silenced;
      const shown = silenced ? { ...snitch, silenced: shownSilence(silenced) } : snitch;
      return wireExplanation(shown, ownCase, explanation, { audience, runs, values, pausedBy });
    },
  });
}

async function findAudience(
  store: Pick<Store, 'listWebhooks' | 'listChannels' | 'listRoutes' | 'findOutage' | 'listLastDeaths'>,
  { token, alertEmail, tags }: Snitch,
  { id, members, timezone }: Case,
  asked: { now: number; sendsEmail: boolean; nextAlertAt: number | null },
): Promise<{ audience: Audience; nameOf: (target: string) => string }> {
  const [webhooks, channels, routes, outage, deaths] = await Promise.all([
    store.listWebhooks(id),
    store.listChannels(id),
    store.listRoutes(id),
    store.findOutage(id, token),
    store.listLastDeaths(id),
  ]);
  const nameOf = targetNames(webhooks, channels);
  const audience = audienceOf({
    alertEmail,
    tags,
    targets: { members, webhooks: webhooks.map((webhook) => webhook.id), channels, routes },
    outage,
    ...asked,
    nameOf,
    failureAt: failuresBy(channels, deaths),
    local: (at) => inTimeZone(at, timezone),
  });
  return { audience, nameOf };
}

function tellingOf(audience: Audience, state: SnitchState, last: ToldAlert | null): Telling {
  const others = [...failingReasons(audience), ...audienceReasons(notSaidYet(audience, state, last))];
  return { nobody: whyNobody(audience), others, last };
}

/** Waiting deliveries of the current alarm already say how long they wait. */
function notSaidYet(
  { passedOver, later = [] }: Audience,
  { status }: SnitchState,
  last: ToldAlert | null,
): Pick<Audience, 'passedOver' | 'later'> {
  const lasts = status === 'failed' || status === 'errored';
  const waiting = lasts ? (last?.deliveries ?? []).filter(({ waits }) => waits !== undefined) : [];
  return { passedOver, later: later.filter(({ name }) => !waiting.some(({ target }) => target === name)) };
}

/** The state with silences taken into account; a reminder that is due in a silence waits for its end. */
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

async function needsOf(store: RouteContext['store'], { caseId, needs, hold }: Snitch) {
  return { needs, hold, names: await namesOf(store, caseId, needs) };
}

/** The names of the needed snitches, by token. */
async function namesOf(
  store: RouteContext['store'],
  caseId: string,
  needs: readonly string[],
): Promise<Map<string, string>> {
  const tokens = needs.map(needOf).flatMap((need) => ('token' in need ? [need.token] : []));
  const found = await Promise.all(tokens.map((token) => store.getSnitch(caseId, token)));
  return new Map(found.filter((one) => one !== null).map(({ token, name }) => [token, name]));
}

/** Who paused it, or last changed the end of the pause. */
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
