/** `/v1/status_page`: what outsiders may see of the case. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { WireStatusPage } from '../../api/status-page.ts';
import { NotFound } from '../../core/errors.ts';
import {
  EVERYTHING,
  LONGEST_ANNOUNCEMENT,
  LONGEST_PASSWORD,
  LONGEST_TITLE,
  SHORTEST_PASSWORD,
  SLUG,
  type StatusPage,
  type StatusPageChanges,
  TITLE,
} from '../../core/status-page/page.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { found, resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { wireTime } from '../endpoint/wire.ts';
import { hashPassword } from '../public/status-page/password.ts';
import { line } from './case-schema.ts';

const MOST_TAGS = 50;

/** Shown instead of a password; sent back, it keeps the password. */
const KEPT = '***';

const tags = z
  .array(line(100), { error: 'must be an array of tags' })
  .min(1, `can't be blank: name a tag, or ["*"] for every snitch`)
  .max(MOST_TAGS, `has too many tags (maximum is ${MOST_TAGS})`)
  .refine((given) => !given.includes(EVERYTHING) || given.length === 1, {
    error: 'is either ["*"] or a list of tags',
  })
  .transform((given) => [...new Set(given)]);

const password = z
  .string({ error: 'must be a string, or null for none' })
  .max(LONGEST_PASSWORD, `is too long (maximum is ${LONGEST_PASSWORD} characters)`)
  .refine((given) => given === KEPT || given.length >= SHORTEST_PASSWORD, {
    error: `is too short (minimum is ${SHORTEST_PASSWORD} characters)`,
  })
  .nullable();

const announcement = z
  .string({ error: 'must be a string, or null for none' })
  .max(LONGEST_ANNOUNCEMENT, `is too long (maximum is ${LONGEST_ANNOUNCEMENT} characters)`)
  .refine((given) => given.isWellFormed(), { error: 'must be well-formed Unicode' })
  .refine((given) => !/[^\P{Cc}\n\r\t]/u.test(given), {
    error: 'must not contain control characters other than newlines and tabs',
  })
  .transform((given) => (given.trim() === '' ? null : given.replaceAll('\r\n', '\n')))
  .nullable();

const changes = z
  .object({
    slug: z
      .string({ error: 'must be a string' })
      .regex(SLUG, 'must be 3 to 40 lower-case letters, digits and hyphens'),
    title: line(LONGEST_TITLE).nullable(),
    tags,
    groups: z
      .array(line(100), { error: 'must be an array of tags' })
      .max(MOST_TAGS, `has too many tags (maximum is ${MOST_TAGS})`)
      .transform((given) => [...new Set(given)])
      .nullable(),
    password,
    announcement,
  })
  .partial();

export function statusPageRoutes(app: FastifyInstance, { store, by, clock, addresses }: ApiContext): void {
  const wire = (page: StatusPage) => wirePage(page, addresses().baseUrl);
  resource(app, '/status_page', {
    GET: async (request) => wire(found(await store.getStatusPage(caseOf(request).id))),
    PUT: async (request) => {
      const { id } = caseOf(request);
      const given = await readAs(request, changes);
      const wanted = await changesOf(given);
      return wire(await by(request).putStatusPage(id, wanted, clock()));
    },
    DELETE: async (request, reply) => {
      if (!(await by(request).deleteStatusPage(caseOf(request).id))) throw new NotFound();
      return reply.code(204).send();
    },
  });
}

async function changesOf({
  title,
  groups,
  password: given,
  ...others
}: z.output<typeof changes>): Promise<StatusPageChanges> {
  return {
    ...others,
    title: title === null ? TITLE : title,
    groups: groups === null ? [] : groups,
    passwordHash: await hashOf(given),
    keepsPassword: given === KEPT,
  };
}

/** Undefined for what stays as it is. */
async function hashOf(given: string | null | undefined): Promise<string | null | undefined> {
  if (given === undefined || given === KEPT) return undefined;
  return given === null ? null : hashPassword(given);
}

function wirePage(page: StatusPage, baseUrl: string): WireStatusPage {
  const { slug, title, tags: shown, groups, passwordHash, announcement: said, since } = page;
  return {
    slug,
    url: `${baseUrl}/s/${slug}`,
    title,
    tags: [...shown],
    groups: [...groups],
    password: passwordHash === null ? null : KEPT,
    announcement: said?.text ?? null,
    announced_at: said === null ? null : wireTime(said.at),
    created_at: wireTime(since),
  };
}
