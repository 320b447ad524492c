/** `/v1/snitches/:token/tags`: the tags of a snitch, added and removed one by one. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { validateTags } from '../../core/validation.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { requestedSnitch } from './snitches.ts';

export function tagRoutes(app: FastifyInstance, { store, by }: ApiContext): void {
  resource(app, '/snitches/:token/tags', {
    POST: async (request) => {
      const { token } = await requestedSnitch(store, request);
      const tags = valid(validateTags(await readJson(request)));
      return found(await by(request).addTags(caseOf(request).id, token, tags));
    },
  });

  resource(app, '/snitches/:token/tags/:tag', {
    DELETE: async (request) =>
      found(
        await by(request).removeTag(caseOf(request).id, param(request, 'token'), spellingsOfTag(request)),
      ),
  });
}

/** A tag that matches literally wins; else a plus sign means a space, as `%20` does. */
function spellingsOfTag(request: FastifyRequest): string[] {
  const path = request.raw.url?.split('?', 1)[0] ?? '';
  const segment = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  return [decodeURIComponent(segment), decodeURIComponent(segment.replaceAll('+', ' '))];
}
