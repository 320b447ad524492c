/** `/b/<id>.svg` and `/b/<id>.json`: a badge for whoever knows its address. It needs no key, and tells no token. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../../core/errors.ts';
import { param, resource } from '../../endpoint/resource.ts';
import { type BadgeSource, ShownBadges, type ShownForms } from './shown.ts';

/** A page of any site may show it, but it can do nothing there. */
const HEADERS = {
  'cache-control': 'public, max-age=5',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};

const TYPES: Record<keyof ShownForms, string> = {
  svg: 'image/svg+xml; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** What badges are called. Anything else may be the token of a check-in address that was set to begin with `/b/`. */
const FILE = /^(badge_[a-z2-7]{16})\.(svg|json)$/;

export interface BadgeContext {
  store: BadgeSource;
  /** The wall clock. */
  clock: () => number;
}

export function badgePictures(app: FastifyInstance, { store, clock }: BadgeContext): void {
  const badges = new ShownBadges(store, clock);
  const GET = async (request: FastifyRequest, reply: FastifyReply) => {
    const [, id, form] = FILE.exec(param(request, 'file')) ?? [];
    // A picture that is not there may not be kept longer than one that is.
    reply.headers(HEADERS);
    const forms = id === undefined ? null : await badges.get(id);
    if (forms === null) throw new NotFound();
    const kind = form === 'svg' ? 'svg' : 'json';
    const { body, etag } = forms[kind];
    reply.header('etag', etag);
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type(TYPES[kind]).send(body);
  };
  resource(app, `/b/:file(${FILE.source})`, { GET }, { audience: 'any', anySite: true });
}

/** Whether the client has what it would get (RFC 9110, 13.1.2): weak and strong ones count alike. */
function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.trim() === '*' || given.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
