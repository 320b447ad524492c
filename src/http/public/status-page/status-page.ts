/**
 * `/s/<slug>`, `/s/<slug>.json` and `/s/<slug>/feed.xml`: the status page of a case (`extensions: For the eyes of
 * others`). It needs no key. What does not exist, was removed or belongs to a case on hold gets everybody the same 404.
 *
 * A page with a password reveals nothing until the password is given. The page asks for it with a form, which sets a
 * cookie. JSON and feed accept the cookie too, or HTTP Basic with any user name.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SnitchError } from '../../../core/errors.ts';
import { LONGEST_PASSWORD, SLUG, type StatusPage } from '../../../core/status-page/page.ts';
import { codePoints } from '../../../text/code-points.ts';
import { SECOND } from '../../../text/durations.ts';
import { readForm } from '../../endpoint/body.ts';
import { answerError, STATUS_OF, TryLater } from '../../endpoint/errors.ts';
import { param, query, resource } from '../../endpoint/resource.ts';
import type { RouteContext } from '../../endpoint/route-context.ts';
import { answerCopy, type Copy, type QuickAnswer } from '../copy.ts';
import { type Edition, PageCache, type Write } from './cache.ts';
import { statusFeed } from './feed.ts';
import { Guesses } from './guesses.ts';
import { statusJson } from './json.ts';
import { passwordPage, plainPage, statusPage } from './page.ts';
import { isPassword } from './password.ts';
import { cookiesIn, Sessions, setCookies } from './session.ts';
import { HTML_TYPE, PAGE_HEADERS } from './style.ts';

export interface StatusPageContext extends Pick<RouteContext, 'store' | 'clock' | 'addresses'> {
  /** The address that a request came from, even through trusted proxies. */
  sourceOf: (request: FastifyRequest['raw']) => string | null;
  /** @throws SnitchError for a form that a page of another site sent */
  refuseForeignForms: (request: FastifyRequest['raw']) => void;
  /** What cookies are signed with; null while there is no key that can be stored. */
  sessionKey?: () => string | null;
}

/** What the three addresses have in common. */
interface Around extends StatusPageContext {
  cache: PageCache;
  sessions: Sessions;
  guesses: Guesses;
}

/** The format in which a page is requested. */
interface Format {
  type: string;
  write: Write;
}

const HTML: Format = { type: HTML_TYPE, write: statusPage };
const JSON_FORMAT: Format = { type: 'application/json; charset=utf-8', write: statusJson };
const FEED_TYPE = 'application/atom+xml; charset=utf-8';

/** What may be a page, and not just the token of a check-in address that is configured to begin with `/s/`. */
const NAME = /^[a-z0-9-]{3,40}(?:\.json)?$/;

/** How often a browser reloads the page. */
const REFRESH_S = 60;

/** @returns a handler that answers the most frequent requests instead of the routes */
export function statusPages(app: FastifyInstance, context: StatusPageContext): QuickAnswer {
  const around: Around = {
    ...context,
    cache: new PageCache(context),
    sessions: new Sessions(context.sessionKey ?? (() => null)),
    guesses: new Guesses(),
  };
  const feed = feedFormat(context);
  app.register(async (pages) => {
    pages.setErrorHandler(answerInWords);
    const at = { audience: 'any', anySite: true, besideTokens: NAME } as const;
    resource(
      pages,
      '/s/:name',
      {
        GET: (request, reply) => {
          const name = param(request, 'name');
          return name.endsWith('.json')
            ? showData(request, reply, name.slice(0, -'.json'.length), JSON_FORMAT, around)
            : showPage(request, reply, name, around);
        },
        POST: (request, reply) => logIn(request, reply, around),
      },
      at,
    );
    const feedHandler = (request: FastifyRequest, reply: FastifyReply) =>
      showData(request, reply, param(request, 'name'), feed, around);
    resource(pages, '/s/:name/feed.xml', { GET: feedHandler }, at);
  });
  return quickAnswer(around.cache, feed);
}

function feedFormat({ addresses }: StatusPageContext): Format {
  const write: Write = (content) => {
    const page = `${addresses().baseUrl}/s/${content.page.slug}`;
    return statusFeed(content, { page, feed: `${page}/feed.xml` });
  };
  return { type: FEED_TYPE, write };
}

async function showPage(request: FastifyRequest, reply: FastifyReply, slug: string, around: Around) {
  const page = await pageAt(slug, around);
  // Its links are relative to its own path.
  if (/^[^?]*\/(\?|$)/.test(request.url)) return reply.redirect(`../${slug}`, 308);
  if (page.passwordHash !== null && !hasCookie(request, page, around)) {
    return sendForm(reply, 401, null);
  }
  return send(request, reply, await editionAt(slug, page, around), HTML);
}

async function showData(
  request: FastifyRequest,
  reply: FastifyReply,
  slug: string,
  format: Format,
  around: Around,
) {
  const page = await pageAt(slug, around);
  if (page.passwordHash !== null && !hasCookie(request, page, around)) {
    const given = passwordIn(request);
    if (given === null || !(await isRight(request, page, given, around))) return refuseData(reply);
  }
  return send(request, reply, await editionAt(slug, page, around), format);
}

function refuseData(reply: FastifyReply) {
  return reply
    .code(401)
    .headers({ 'www-authenticate': 'Basic realm="status page"', 'cache-control': 'no-store' })
    .type('text/plain; charset=utf-8')
    .send('This page has a password: send it with HTTP Basic, with any user name.\n');
}

async function logIn(request: FastifyRequest, reply: FastifyReply, around: Around) {
  around.refuseForeignForms(request.raw);
  const slug = param(request, 'name');
  const page = await pageAt(slug, around);
  if (page.passwordHash === null) return reply.redirect(slug, 303);
  const given = (await readForm(request)).get('password') ?? '';
  if (!(await isRight(request, page, given, around))) {
    return sendForm(reply, 401, 'That is not the password.');
  }
  const value = around.sessions.open(page, around.clock());
  const cookies = setCookies(value, slug, around.addresses().baseUrl);
  return reply.header('cache-control', 'no-store').header('set-cookie', cookies).redirect(slug, 303);
}

/** @throws SnitchError if there is no such page */
async function pageAt(slug: string, { cache }: Around): Promise<StatusPage> {
  const found = SLUG.test(slug) ? await cache.find(slug) : null;
  if (found === null) throw notFound();
  return found.page;
}

/** @throws SnitchError if it was removed, or got another password, since it was found */
async function editionAt(slug: string, page: StatusPage, { cache }: Around): Promise<Edition> {
  const edition = await cache.edition(slug);
  const isSame =
    edition?.content.page.id === page.id && edition.content.page.passwordHash === page.passwordHash;
  if (!edition || !isSame) throw notFound();
  return edition;
}

function notFound(): SnitchError {
  return new SnitchError('resource_not_found', 'There is no page at this address.');
}

function hasCookie(request: FastifyRequest, page: StatusPage, { sessions, clock }: Around): boolean {
  const now = clock();
  return cookiesIn(request.headers.cookie).some((cookie) => sessions.isOpen(page, cookie, now));
}

/** @throws TryLater for too many tries */
async function isRight(
  request: FastifyRequest,
  page: StatusPage,
  given: string,
  { sessions, guesses, sourceOf }: Around,
): Promise<boolean> {
  if (page.passwordHash === null || given === '' || codePoints(given) > LONGEST_PASSWORD) return false;
  if (sessions.knows(page, given)) return true;
  const source = sourceOf(request.raw);
  const waitMs = guesses.take(page.id, source, performance.now());
  if (waitMs > 0) {
    const message = 'There were too many attempts at the password. Wait a little, and try again.';
    throw new TryLater('rate_limited', message, Math.ceil(waitMs / SECOND));
  }
  if (!(await isPassword(given, page.passwordHash))) return false;
  guesses.giveBack(page.id, source, performance.now());
  sessions.remember(page, given);
  return true;
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** The password of HTTP Basic; null if there is none. */
function passwordIn({ raw }: FastifyRequest): string | null {
  const encoded = BASIC.exec(raw.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : text.slice(colon + 1);
}

function send(request: FastifyRequest, reply: FastifyReply, edition: Edition, format: Format) {
  reply.hijack();
  answerCopy(request.raw, reply.raw, copyOf(edition, format, query(request, 'refresh') !== 'off'));
  return reply;
}

const BASIC_HEADERS = Object.entries(PAGE_HEADERS).flat();

const OPEN_HEADERS = [...BASIC_HEADERS, 'cache-control', 'public, max-age=5', 'vary', 'Accept-Encoding'];

const CLOSED_HEADERS = [
  ...BASIC_HEADERS,
  ...['cache-control', 'private, no-store'],
  ...['vary', 'Accept-Encoding, Cookie, Authorization'],
  ...['x-robots-tag', 'noindex, nofollow, noarchive'],
];

function copyOf(edition: Edition, { type, write }: Format, isRefreshed: boolean): Copy {
  const headers = edition.content.page.passwordHash === null ? OPEN_HEADERS : CLOSED_HEADERS;
  const refresh = isRefreshed && type === HTML_TYPE ? ['refresh', String(REFRESH_S)] : [];
  return { ...edition.as(write), type, headers: [...refresh, ...headers] };
}

const ADDRESS = /^\/s\/([a-z0-9-]{3,40})(\.json|\/feed\.xml)?$/;

/** Answers from pages that are already made and that everybody may read. */
function quickAnswer(cache: PageCache, feed: Format): QuickAnswer {
  return (request, response) => {
    const { method, url = '' } = request;
    if (!url.startsWith('/s/') || (method !== 'GET' && method !== 'HEAD')) return false;
    const [, slug, ending] = ADDRESS.exec(url) ?? [];
    const edition = slug === undefined ? null : cache.fresh(slug);
    if (edition === null || edition.content.page.passwordHash !== null) return false;
    const format = ending === undefined ? HTML : ending === '.json' ? JSON_FORMAT : feed;
    answerCopy(request, response, copyOf(edition, format, true));
    return true;
  };
}

function sendForm(reply: FastifyReply, status: number, problem: string | null) {
  return reply
    .code(status)
    .headers({ ...PAGE_HEADERS, ...CLOSED })
    .type(HTML_TYPE)
    .send(passwordPage(problem));
}

const CLOSED = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow, noarchive' };

/** The errors that people may meet, as a page. */
async function answerInWords(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!(error instanceof SnitchError) || STATUS_OF[error.type] >= 500) {
    await answerError(error, request, reply);
    return;
  }
  const status = STATUS_OF[error.type];
  if (error instanceof TryLater) reply.header('retry-after', error.retryAfterS);
  const title = status === 404 ? 'Nothing here' : status === 429 ? 'Too often' : 'That did not work';
  await reply
    .code(status)
    .headers({ ...PAGE_HEADERS, ...CLOSED })
    .type(HTML_TYPE)
    .send(plainPage(title, error.message));
}
