/** The snitches of a case: every endpoint of `spec §4`, and their check-ins and alerts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Invalid, NotFound, PlanLimitReached } from '../core/errors.ts';
import { explain } from '../core/explain.ts';
import { Calendar } from '../core/interval.ts';
import { whyNobody } from '../core/told.ts';
import {
  type Checked,
  PENDING_CANNOT_PAUSE,
  validateNewSnitch,
  validatePause,
  validateSnitchChanges,
  validateTags,
} from '../core/validation.ts';
import type { Snitch } from '../store/store.ts';
import { caseOf } from './auth.ts';
import { readJson } from './body.ts';
import { isNumericId, pageOf, slicesOf } from './page.ts';
import { param, resource } from './resource.ts';
import type { ApiContext } from './server.ts';
import { audienceOf, targetNames, toldAlert, wireCheckIn, wireExplanation, wireSnitch } from './wire.ts';

export function snitchRoutes(
  app: FastifyInstance,
  { store, clock, addresses, lists, sendsEmail }: ApiContext,
): void {
  const wire = (snitch: Snitch) => wireSnitch(snitch, addresses().checkInBase);

  async function find(request: FastifyRequest): Promise<Snitch> {
    return found(await store.getSnitch(caseOf(request).id, param(request, 'token')));
  }

  resource(app, '/snitches', {
    GET: async (request, reply) => {
      const { id } = caseOf(request);
      const tags = wantedTags(request);
      return lists.send(request, reply, async (limit, after: number | null) => {
        const { snitches, next } = await store.listSnitches(id, { after: after ?? 0, limit, tags });
        return { items: snitches.map(wire), next };
      });
    },
    POST: async (request) => {
      const { id } = caseOf(request);
      const body = await readJson(request, async () => {
        if (!(await store.hasRoomForSnitch(id))) throw new PlanLimitReached();
      });
      return wire(await store.createSnitch(id, valid(validateNewSnitch(body)), clock()));
    },
  });

  resource(app, '/snitches/:token', {
    GET: async (request) => wire(await find(request)),
    PATCH: async (request) => {
      const { token, state } = await find(request);
      const changes = valid(validateSnitchChanges(await readJson(request), state));
      return wire(found(await store.updateSnitch(caseOf(request).id, token, changes, clock())));
    },
    DELETE: async (request, reply) => {
      if (!(await store.deleteSnitch(caseOf(request).id, param(request, 'token')))) throw new NotFound();
      return reply.code(204).send();
    },
  });

  resource(app, '/snitches/:token/tags', {
    POST: async (request) => {
      const { token } = await find(request);
      const tags = valid(validateTags(await readJson(request)));
      return found(await store.addTags(caseOf(request).id, token, tags));
    },
  });

  resource(app, '/snitches/:token/tags/:tag', {
    DELETE: async (request) =>
      found(await store.removeTag(caseOf(request).id, param(request, 'token'), spellingsOfTag(request))),
  });

  resource(app, '/snitches/:token/pause', {
    POST: async (request, reply) => {
      const { token, state } = await find(request);
      const until = validatePause(await readJson(request), clock());
      if (state.status === 'pending') {
        throw new Invalid([...(until.validations ?? []), PENDING_CANNOT_PAUSE]);
      }
      const paused = await store.pauseSnitch(caseOf(request).id, token, valid(until), clock());
      if (!paused) throw new NotFound();
      return reply.code(204).send();
    },
  });

  resource(app, '/snitches/:token/unpause', {
    POST: async (request, reply) => {
      const unpaused = await store.unpauseSnitch(caseOf(request).id, param(request, 'token'), clock());
      if (!unpaused) throw new NotFound();
      return reply.code(204).send();
    },
  });

  const calendar = new Calendar();
  resource(app, '/snitches/:token/explain', {
    GET: async (request) => {
      const snitch = await find(request);
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

  resource(app, '/snitches/:token/check_ins', {
    GET: async (request, reply) => {
      const { token, caseId } = await find(request);
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

/** The value, or the error that tells what is wrong with it. */
export function valid<T>({ value, validations }: Checked<T>): T {
  if (validations) throw new Invalid(validations);
  return value as T;
}

export function found<T>(value: T | null): T {
  if (value === null) throw new NotFound();
  return value;
}

/** `tags=a,b`; `tags[]=a&tags[]=b` and `tags[0]=a&tags[1]=b`, which some clients send, mean the same. */
function wantedTags(request: FastifyRequest): string[] {
  const given = request.query as Record<string, string | string[] | undefined>;
  const lists = Object.entries(given).flatMap(([name, value]) =>
    /^tags(\[\d*\])?$/.test(name) ? value : [],
  );
  const tags = lists.flatMap((list) => list?.split(',') ?? []).map((tag) => tag.trim());
  return tags.filter((tag) => tag !== '');
}

/** A tag that matches literally wins; else a plus sign means a space, as `%20` does. */
function spellingsOfTag(request: FastifyRequest): string[] {
  const path = request.raw.url?.split('?', 1)[0] ?? '';
  const segment = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  return [decodeURIComponent(segment), decodeURIComponent(segment.replaceAll('+', ' '))];
}
