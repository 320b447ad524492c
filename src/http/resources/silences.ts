/** `/v1/silences`: planned times without alarms. */
import type { FastifyInstance } from 'fastify';
import type { WireSilence, WireStretch } from '../../api/wire-kept-back.ts';
import { Invalid, NotFound } from '../../core/errors.ts';
import { validateNewSilence, validateSilenceChanges } from '../../core/silences/input.ts';
import {
  currentWindow,
  nextWindow,
  overAt,
  type Silence,
  type SilenceWindow,
} from '../../core/silences/silence.ts';
import { SECOND } from '../../text/durations.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireTime } from '../endpoint/wire.ts';

const OVER = { attribute: 'to', message: 'cannot change any more: the silence is over, so make another one' };

export function silenceRoutes(app: FastifyInstance, { store, by: actsOf, clock }: ApiContext): void {
  resource(app, '/silences', {
    GET: async (request) => {
      const { id, timezone } = caseOf(request);
      const now = clock();
      return (await store.listSilences(id, now)).map((silence) => wireSilence(silence, timezone, now));
    },
    POST: async (request) => {
      const { id, timezone } = caseOf(request);
      const body = await readJson(request);
      const now = clock();
      const input = valid(validateNewSilence(body, { timezone, now }));
      const by = request.caller?.apiKey.name ?? '';
      const { scope } = input;
      const made = wireSilence(await actsOf(request).createSilence(id, { ...input, by }, now), timezone, now);
      if (scope.kind !== 'tags') return made;
      return { ...made, unknown_tags: await store.unknownTags(id, scope.tags) };
    },
  });
  resource(app, '/silences/:id', {
    GET: async (request) => {
      const { id: caseId, timezone } = caseOf(request);
      const silence = found(await store.getSilence(caseId, param(request, 'id')));
      return wireSilence(silence, timezone, clock());
    },
    PATCH: async (request) => {
      const { id: caseId, timezone } = caseOf(request);
      const id = param(request, 'id');
      const stored = found(await store.getSilence(caseId, id));
      const body = await readJson(request);
      const now = clock();
      if ((overAt(stored) ?? now + 1) <= now) throw new Invalid([OVER]);
      const changes = valid(validateSilenceChanges(body, stored, now));
      return wireSilence(found(await actsOf(request).updateSilence(caseId, id, changes, now)), timezone, now);
    },
    DELETE: async (request, reply) => {
      const { id: caseId } = caseOf(request);
      if (!(await actsOf(request).deleteSilence(caseId, param(request, 'id'), clock()))) throw new NotFound();
      return reply.code(204).send();
    },
  });
}

/** @param timezone the case's */
function wireSilence(silence: Silence, timezone: string, now: number): WireSilence {
  const { id, scope, note, by, createdAt, endedAt } = silence;
  const current = currentWindow(silence, now, timezone);
  return {
    id,
    tags: scope.kind === 'tags' ? [...scope.tags] : null,
    tokens: scope.kind === 'tokens' ? [...scope.tokens] : null,
    all: scope.kind === 'all',
    ...wireTimes(silence),
    note,
    by,
    created_at: wireTime(createdAt),
    active: current !== null,
    current: wireStretch(current),
    next: wireStretch(nextWindow(silence, now, timezone)),
    ended_at: endedAt === null ? null : wireTime(endedAt),
  };
}

function wireTimes({
  time,
}: Pick<Silence, 'time'>): Pick<WireSilence, 'from' | 'to' | 'schedule' | 'duration' | 'timezone'> {
  if (time.kind === 'once') {
    const { from, to } = time;
    return { from: wireTime(from), to: wireTime(to), schedule: null, duration: null, timezone: null };
  }
  const schedule = time.schedule as Exclude<typeof time.schedule, { every: number }>;
  return { from: null, to: null, schedule, duration: time.duration / SECOND, timezone: time.timezone };
}

function wireStretch(window: SilenceWindow | null): WireStretch | null {
  return window && { from: wireTime(window.start), to: wireTime(window.end) };
}
