/**
 * The status page of a case: what outsiders may see of its snitches (`extensions: For the eyes of others`). There is
 * none until somebody turns it on.
 */

/** A message to whoever looks at the page. */
export interface Announcement {
  text: string;
  /** When it was made, in milliseconds since the epoch. */
  at: number;
}

/** Replaces the tags of a page that shows every snitch of its case. */
export const EVERYTHING = '*';

export interface StatusPage {
  id: number;
  caseId: string;
  /** The last part of its address. */
  slug: string;
  title: string;
  /** Snitches with one of these tags are shown; `EVERYTHING` alone for all. */
  tags: readonly string[];
  /** Tags that are headings, in their order. */
  groups: readonly string[];
  /** Null for a page that everybody may read. */
  passwordHash: string | null;
  announcement: Announcement | null;
  /** When it was turned on, in milliseconds since the epoch: from then on every status change is kept. */
  since: number;
}

/** What a person sets on the page; what is absent stays as it is. */
export interface StatusPageChanges {
  slug?: string | undefined;
  title?: string | undefined;
  tags?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
  /** A salted hash; null for no password. */
  passwordHash?: string | null | undefined;
  /** Whether the client believes that there is a password, because it sent back what it was shown instead of one. */
  keepsPassword?: boolean;
  /** Null removes it. Setting the same text again does not make a new announcement. */
  announcement?: string | null | undefined;
}

export const SLUG = /^[a-z0-9-]{3,40}$/;

export const LONGEST_TITLE = 100;
export const LONGEST_ANNOUNCEMENT = 2_000;
export const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 200;

/** The title of a page that was not given one. */
export const TITLE = 'Status';

/** How many snitches one page shows: few enough for a phone to display. */
export const MOST_SHOWN = 300;

/** How many periods a strip has. */
export const STRIP = 60;

/** Whether a snitch with these tags is shown on the page. */
export function isShownOn({ tags }: Pick<StatusPage, 'tags'>, own: readonly string[]): boolean {
  return tags.includes(EVERYTHING) || tags.some((tag) => own.includes(tag));
}
