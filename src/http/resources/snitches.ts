/** `/v1/snitches`: the snitches of a case (`spec §4`). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NotFound, PlanLimitReached } from '../../core/errors.ts';
import type { ListedSnitch, Snitch } from '../../core/snitch.ts';
import { readNewSnitch, readSnitchChanges } from '../../core/snitch-input.ts';
import type { Store } from '../../store/store.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, query, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { withSilence, withSilences } from '../endpoint/silenced.ts';
import { snitchText } from '../endpoint/snitch-text.ts';
import { wireSnitch } from '../endpoint/wire.ts';

export function snitchRoutes(app: FastifyInstance, { store, by, clock, addresses, lists }: ApiContext): void {
  const wire = async (snitch: Snitch, request: FastifyRequest) =>
    wireSnitch(await withSilence(store, caseOf(request).id, snitch, clock()), shownTo(request));
  const shownTo = (request: FastifyRequest) => ({ ...addresses(), timezone: caseOf(request).timezone });

  resource(app, '/snitches', {
    GET: async (request, reply) => {
      const { id } = caseOf(request);
      const tags = wantedTags(request);
      const name = query(request, 'name') ?? null;
      const read = async (limit: number, after: number | null) => {
        const { snitches, next } = await store.listSnitches(id, { after: after ?? 0, limit, tags, name });
        return { items: await withSilences(store, id, snitches, clock()), next };
      };
      const shown = shownTo(request);
      const write = (snitches: readonly ListedSnitch[]) =>
        snitches.reduce((text, snitch) => `${text}${text === '' ? '' : ','}${snitchText(snitch, shown)}`, '');
      return lists.send(request, reply, read, write);
    },
    POST: async (request) => {
      const { id, timezone } = caseOf(request);
      const body = await readJson(request, async () => {
        if (!(await store.hasRoomForSnitch(id))) throw new PlanLimitReached();
      });
      const now = clock();
      const fields = valid(readNewSnitch(body, { timezone, now }));
      return wire(await by(request).createSnitch(id, fields, now), request);
    },
  });

  resource(app, '/snitches/:token', {
    GET: async (request) => wire(await requestedSnitch(store, request), request),
    PATCH: async (request) => {
      const { token, state } = await requestedSnitch(store, request);
      const { id, timezone } = caseOf(request);
      const body = await readJson(request);
      const now = clock();
      const changes = valid(readSnitchChanges(body, state, { timezone, now }));
      return wire(found(await by(request).updateSnitch(id, token, changes, now)), request);
    },
    DELETE: async (request, reply) => {
      if (!(await by(request).deleteSnitch(caseOf(request).id, param(request, 'token'))))
        throw new NotFound();
      return reply.code(204).send();
    },
  });
}

/**
 * The snitch that the path names by its token.
 *
 * @throws NotFound if the caller's case has none with this token
 */
export async function requestedSnitch(
  store: Pick<Store, 'getSnitch'>,
  request: FastifyRequest,
): Promise<Snitch> {
  return found(await store.getSnitch(caseOf(request).id, param(request, 'token')));
}

/** `tags=a,b`; `tags[]=a&tags[]=b` and `tags[0]=a&tags[1]=b`, which some clients send, mean the same. */
export function wantedTags(request: FastifyRequest): string[] {
  const given = request.query as Record<string, string | string[] | undefined>;
  const lists = Object.entries(given).flatMap(([name, value]) =>
    /^tags(\[\d*\])?$/.test(name) ? value : [],
  );
  const tags = lists.flatMap((list) => list?.split(',') ?? []).map((tag) => tag.trim());
  return tags.filter((tag) => tag !== '');
}
