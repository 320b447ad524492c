/**
 * The status page of a case: what others may see of its snitches (`extensions: For the eyes of others`). There is none
 * until somebody switches it on.
 */

/** What somebody has to say to whoever looks. */
export interface Announcement {
  text: string;
  /** When it was made, in milliseconds since the epoch. */
  at: number;
}

/** On a page that shows every snitch of its case, in the place of tags. */
export const EVERYTHING = '*';

export interface StatusPage {
  id: number;
  caseId: string;
  /** The last part of its address. */
  slug: string;
  title: string;
  /** Snitches that carry one of these are shown; `EVERYTHING` alone for all. */
  tags: readonly string[];
  /** Tags that are headings, in their order. */
  groups: readonly string[];
  /** Null for a page that everybody may read. */
  passwordHash: string | null;
  announcement: Announcement | null;
  /** When it was switched on, in milliseconds since the epoch: from then on every change of a status is kept. */
  since: number;
}

/** What a person says of the page; what is absent stays as it is. */
export interface StatusPageChanges {
  slug?: string | undefined;
  title?: string | undefined;
  tags?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
  /** A salted hash; null for no password. */
  passwordHash?: string | null | undefined;
  /** Null takes it away. The same text again is no new announcement. */
  announcement?: string | null | undefined;
}

export const SLUG = /^[a-z0-9-]{3,40}$/;

export const LONGEST_TITLE = 100;
export const LONGEST_ANNOUNCEMENT = 2_000;
export const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 200;

/** Where nobody gave the page a title. */
export const TITLE = 'Status';

/** How many snitches one page shows, so that a telephone can show it. */
export const MOST_SHOWN = 300;

/** How many periods a strip has. */
export const STRIP = 60;

/** Whether a snitch with these tags is to be seen on the page. */
export function isShownOn({ tags }: Pick<StatusPage, 'tags'>, own: readonly string[]): boolean {
  return tags.includes(EVERYTHING) || tags.some((tag) => own.includes(tag));
}
