/** The operations on the status page of a case. */
import { z } from 'zod';
import type { WireStatusPage } from '../../api/status-page.ts';
import {
  LONGEST_ANNOUNCEMENT,
  LONGEST_PASSWORD,
  LONGEST_TITLE,
  SHORTEST_PASSWORD,
  SLUG,
} from '../../core/status-page/page.ts';
import type { Operation } from './document.ts';
import { text, time } from './snitch-schemas.ts';

const statusPage: z.ZodType<WireStatusPage> = z.object({
  slug: text,
  url: text.meta({ description: 'Where everybody sees it' }),
  title: text,
  tags: z.array(text).meta({ description: 'Snitches with one of these are shown; ["*"] shows all' }),
  groups: z.array(text).meta({ description: 'Tags that are headings, in their order' }),
  password: text.nullable().meta({ description: '"***" where there is one; never the password itself' }),
  announcement: text.nullable(),
  announced_at: time.nullable(),
  created_at: time,
});

const changes = z
  .object({
    slug: text.regex(SLUG),
    title: text.max(LONGEST_TITLE).nullable(),
    tags: z.array(text.max(100)).min(1).max(50),
    groups: z.array(text.max(100)).max(50).nullable(),
    password: text.min(SHORTEST_PASSWORD).max(LONGEST_PASSWORD).nullable(),
    announcement: text.max(LONGEST_ANNOUNCEMENT).nullable(),
  })
  .partial();

export const STATUS_PAGE_OPERATIONS: Record<string, Record<string, Operation>> = {
  '/v1/status_page': {
    get: {
      id: 'getStatusPage',
      summary: 'Read the status page of the case',
      answer: statusPage,
      mayLack: true,
    },
    put: {
      id: 'putStatusPage',
      summary: 'Switch the status page on, or change it; what is left out stays as it is',
      body: changes,
      answer: statusPage,
    },
    delete: { id: 'deleteStatusPage', summary: 'Take page and feed away', answer: null, mayLack: true },
  },
};
