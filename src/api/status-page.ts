/** The status page of a case, as it travels over the API. */
import { list, nullable, object, text, time } from './shape.ts';

export interface WireStatusPage {
  slug: string;
  /** The public address of the page. */
  url: string;
  title: string;
  /** Snitches with one of these tags are shown; `*` alone for all. */
  tags: string[];
  /** Tags that are headings, in their order. */
  groups: string[];
  /** Never shown: `***` if there is one. */
  password: string | null;
  announcement: string | null;
  announced_at: string | null;
  created_at: string;
}

/** What is left out stays as it is. */
export interface StatusPageInput {
  slug?: string;
  title?: string | null;
  tags?: string[];
  groups?: string[] | null;
  password?: string | null;
  announcement?: string | null;
}

const TEXTS = list(text);

export const STATUS_PAGE = object<WireStatusPage>({
  slug: text,
  url: text,
  title: text,
  tags: TEXTS,
  groups: TEXTS,
  password: nullable(text),
  announcement: nullable(text),
  announced_at: nullable(time),
  created_at: time,
});
