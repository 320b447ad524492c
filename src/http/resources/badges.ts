/** `/v1/badges`: the badges of the case. The pictures themselves are in `public/badges/`. */
import type { FastifyInstance } from 'fastify';
import type { WireBadge } from '../../api/wire-badge.ts';
import { type Badge, MOST_BADGES } from '../../core/badges/badge.ts';
import { validateNewBadge } from '../../core/badges/input.ts';
import { NotFound } from '../../core/errors.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readJson } from '../endpoint/body.ts';
import { found, param, resource, valid } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireTime } from '../endpoint/wire.ts';

export function badgeRoutes(app: FastifyInstance, { store, by, clock, addresses }: ApiContext): void {
  const shown = (badge: Badge) => wireBadge(badge, addresses().baseUrl);
  resource(app, '/badges', {
    GET: async (request) => (await store.listBadges(caseOf(request).id)).map(shown),
    POST: async (request) => {
      const input = valid(validateNewBadge(await readJson(request)));
      return shown(await by(request).createBadge(caseOf(request).id, input, clock(), MOST_BADGES));
    },
  });
  resource(app, '/badges/:id', {
    GET: async (request) => shown(found(await store.getBadge(caseOf(request).id, param(request, 'id')))),
    DELETE: async (request, reply) => {
      if (!(await by(request).deleteBadge(caseOf(request).id, param(request, 'id')))) throw new NotFound();
      return reply.code(204).send();
    },
  });
}

function wireBadge({ id, subject, label, createdAt }: Badge, baseUrl: string): WireBadge {
  return {
    id,
    url: `${baseUrl}/b/${id}.svg`,
    token: subject.kind === 'snitch' ? subject.token : null,
    tag: subject.kind === 'tag' ? subject.tag : null,
    name: subject.kind === 'snitch' ? subject.name : null,
    public_name: subject.kind === 'snitch' ? subject.publicName : null,
    label,
    created_at: wireTime(createdAt),
  };
}
