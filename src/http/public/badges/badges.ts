/** `/b/<id>.svg` and `/b/<id>.json`: a badge for whoever knows its address. It needs no key, and reveals no token. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../../core/errors.ts';
import { param, resource } from '../../endpoint/resource.ts';
import { answerCopy, type Copy, type QuickAnswer } from '../copy.ts';
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

/**
 * The file names of badges. Anything else may be the token of a check-in address that is configured to begin with
 * `/b/`.
 */
const FILE = /^(badge_[a-z2-7]{16})\.(svg|json)$/;

export interface BadgeContext {
  store: BadgeSource;
  /** The wall clock. */
  clock: () => number;
}

/** @returns a handler that answers the most frequent requests instead of the routes */
export function badgePictures(app: FastifyInstance, { store, clock }: BadgeContext): QuickAnswer {
  const badges = new ShownBadges(store, clock);
  const GET = async (request: FastifyRequest, reply: FastifyReply) => {
    const [, id, form] = FILE.exec(param(request, 'file')) ?? [];
    const forms = id === undefined ? null : await badges.get(id);
    if (forms === null) {
      // The answer for a missing picture must not be cached longer than a picture.
      reply.headers(HEADERS);
      throw new NotFound();
    }
    reply.hijack();
    answerCopy(request.raw, reply.raw, copyOf(forms, form));
    return reply;
  };
  resource(app, `/b/:file(${FILE.source})`, { GET }, { audience: 'any', anySite: true });
  return (request, response) => {
    const { method, url = '' } = request;
    if (!url.startsWith('/b/') || (method !== 'GET' && method !== 'HEAD')) return false;
    const [, id, form] = FILE.exec(url.slice('/b/'.length)) ?? [];
    const forms = id === undefined ? null : badges.fresh(id);
    if (forms === null) return false;
    answerCopy(request, response, copyOf(forms, form));
    return true;
  };
}

const HEADER_LIST = Object.entries(HEADERS).flat();

function copyOf(forms: ShownForms, form: string | undefined): Copy {
  const kind = form === 'svg' ? 'svg' : 'json';
  const { body, etag } = forms[kind];
  return { bytes: body, zipped: null, etag, type: TYPES[kind], headers: HEADER_LIST };
}
