/**
 * `/a/<id>.<signature>`: the link in every message of an alarm (`extensions: Acknowledge, silence, depend`). It needs
 * no key, because the signature is the authority.
 *
 * - GET and HEAD change nothing, however often a mail scanner or a prefetching browser calls them.
 * - POST acknowledges if it comes from the form of a page that this server made for this alarm, at least `HASTE` ago. A
 *   program that posts to every address it finds has no such form, and one that submits every form it finds does so at
 *   once. Only a program that opens the page, waits, and presses buttons still gets through: `by` and `at` show what it
 *   did, and it can be undone.
 * - A page of another site cannot know the address, so it cannot post to it. A request that a browser says came from
 *   another site is refused all the same.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Acknowledging, validateAcknowledging } from '../../core/acknowledgement/input.ts';
import { linkEndsAt } from '../../core/acknowledgement/link.ts';
import { SnitchError } from '../../core/errors.ts';
import type { Alarm } from '../../store/acknowledgements.ts';
import { editable } from '../../text/printable.ts';
import { readForm } from '../endpoint/body.ts';
import { answerError, RETRY_AFTER_S, STATUS_OF, TryLater, tellRefused } from '../endpoint/errors.ts';
import type { RateLimiter } from '../endpoint/rate-limit.ts';
import { param, resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { type AlarmLinks, partsOf } from './links.ts';
import { alarmPage, endOf, type Form, PAGE_HEADERS, plainPage, seenBy } from './page.ts';

export interface AcknowledgePageContext extends Pick<RouteContext, 'store' | 'clock'> {
  links: AlarmLinks;
  limiter: RateLimiter;
  /** The address that a request came from, even through trusted proxies. */
  sourceOf: (request: FastifyRequest['raw']) => string | null;
  /** @throws SnitchError for a form that a page of another site sent */
  refuseForeignForms: (request: FastifyRequest['raw']) => void;
}

/** Nobody reads a page and presses its button in less time, in milliseconds. */
const HASTE = 1_000;

/** Who acknowledged, if the person gives no name. */
const BY_LINK = 'link';

export function acknowledgePage(app: FastifyInstance, context: AcknowledgePageContext): void {
  app.register(async (pages) => {
    pages.setErrorHandler(answerInWords);
    const at = { audience: 'any', anySite: true, besideTokens: /^alert_/ } as const;
    const handlers = {
      GET: (request: FastifyRequest, reply: FastifyReply) => show(request, reply, context),
      POST: (request: FastifyRequest, reply: FastifyReply) => acknowledge(request, reply, context),
    };
    resource(pages, '/a/:link', handlers, at);
  });
}

async function show(request: FastifyRequest, reply: FastifyReply, context: AcknowledgePageContext) {
  const alarm = await alarmOf(request, context);
  return send(reply, 200, pageOf(alarm, context));
}

async function acknowledge(request: FastifyRequest, reply: FastifyReply, context: AcknowledgePageContext) {
  context.refuseForeignForms(request.raw);
  const alarm = await alarmOf(request, context);
  const given = formIn(await readForm(request));
  const { id } = alarm.alert;
  const { value, problems } = judged(id, given, context);
  const isOpen = alarm.lasts && alarm.acknowledged === null;
  if (value === null && isOpen) return send(reply, 422, pageOf(alarm, context, { ...given, problems }));
  const after = value === null ? { ...alarm, isNew: false } : await acknowledgeOnce(id, value, context);
  if (after === null) throw notFound();
  if (!after.lasts) return send(reply, 409, pageOf(after, context));
  const page = after.isNew
    ? alarmPage(
        after,
        `Acknowledged ${seenBy(after)}. There are no more reminders, and nobody else is called, until its status changes.`,
        null,
      )
    : pageOf(after, context);
  return send(reply, 200, page);
}

function acknowledgeOnce(id: string, { note, by }: Acknowledging, { store, clock }: AcknowledgePageContext) {
  const named = by ?? BY_LINK;
  const actor = { keyId: null, name: named === BY_LINK ? named : `${named} (by link)` };
  return store.by(actor, clock()).acknowledgeAlarm(id, { note, by: named }, clock());
}

/** The page of an alarm: with the form, or with what has become of the alarm. */
function pageOf(alarm: Alarm, { links, clock }: AcknowledgePageContext, form?: Omit<Form, 'seal'>): string {
  if (!alarm.lasts) return alarmPage(alarm, endOf(alarm), null);
  const seen = seenBy(alarm);
  if (seen !== null) return alarmPage(alarm, `It was acknowledged already, ${seen}`, null);
  const seal = links.sealOf(alarm.alert.id, clock());
  return alarmPage(alarm, null, { by: '', note: '', problems: [], ...form, seal });
}

/** @throws SnitchError for a link that is unknown, forged or too old */
async function alarmOf(request: FastifyRequest, context: AcknowledgePageContext): Promise<Alarm> {
  const { store, links, clock, limiter, sourceOf } = context;
  const parts = partsOf(param(request, 'link'));
  const alarm = parts && (await store.findAlarm(parts.id));
  if (!alarm || !links.isGenuine(alarm.alert, parts.signature)) {
    limitGuesses(limiter, sourceOf(request.raw));
    throw notFound();
  }
  if (clock() >= linkEndsAt(alarm.alert.at)) {
    throw new Expired(
      'This link was good for 7 days after its alarm. A newer message about the alarm has a newer link.',
    );
  }
  return alarm;
}

/** A genuine link that is too old: it may be told apart from one that never existed. */
class Expired extends SnitchError {
  constructor(message: string) {
    super('resource_not_found', message);
  }
}

function notFound(): SnitchError {
  return new SnitchError(
    'resource_not_found',
    'There is no alarm at this address. Perhaps the end of the link was cut off on its way.',
  );
}

/** Other people's guesses never lock out somebody with a genuine link. */
function limitGuesses(limiter: RateLimiter, source: string | null): void {
  const waitMs = limiter.takeGuess(source ?? 'this host', performance.now());
  if (waitMs === 0) return;
  const message = 'Too many different links were tried from this address. Try again later.';
  throw new TryLater('rate_limited', message, Math.ceil(waitMs / 1_000));
}

interface Given {
  page: string;
  by: string;
  note: string;
}

/** A form field cannot hold several lines, but a program that fills it in may send them. */
function formIn(fields: URLSearchParams): Given {
  const field = (name: string) => fields.get(name) ?? '';
  return { page: field('page'), by: editable(field('by')), note: editable(field('note')) };
}

function judged(
  alertId: string,
  { page, by, note }: Given,
  { links, clock }: AcknowledgePageContext,
): { value: Acknowledging; problems?: never } | { value: null; problems: string[] } {
  const age = clock() - (links.madeAt(alertId, page) ?? clock());
  // If the clock was set back, the page seems to be made in the future, which does not count as haste.
  if (links.madeAt(alertId, page) === null || (age >= 0 && age < HASTE)) {
    return { value: null, problems: ['Nothing is acknowledged yet: press the button.'] };
  }
  const { value, validations } = validateAcknowledging({ by, note });
  if (value) return { value };
  const words: Record<string, string> = { by: 'The name', note: 'The note' };
  return {
    value: null,
    problems: validations.map(({ attribute, message }) => `${words[attribute] ?? attribute} ${message}.`),
  };
}

function send(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(page);
}

const TITLES: Partial<Record<number, string>> = {
  404: 'Not found',
  410: 'This link has expired',
  429: 'Too many tries',
  503: 'Not possible right now',
};

/** Like `answerError`, for people. */
async function answerInWords(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!(error instanceof SnitchError)) return answerError(error, request, reply);
  const status = error instanceof Expired ? 410 : STATUS_OF[error.type];
  const retryAfterS = error instanceof TryLater ? error.retryAfterS : RETRY_AFTER_S;
  if (status === 503) tellRefused(request, error);
  if (status === 503 || error instanceof TryLater) reply.header('retry-after', retryAfterS);
  if (status === 413) reply.header('connection', 'close');
  await send(reply, status, plainPage(TITLES[status] ?? 'Not possible', error.message));
}
