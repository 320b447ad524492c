/** The part of the store for status pages; instants are milliseconds since the epoch. */
import type { BlindWindow } from '../core/blind-window.ts';
import type { Silence } from '../core/silences/silence.ts';
import type { Status } from '../core/snitch.ts';
import type { StatusPage, StatusPageChanges } from '../core/status-page/page.ts';
import type { KeptAlert, KeptChange } from '../core/status-page/spans.ts';
import type { Rhythm } from '../core/status-page/strip.ts';

export interface StatusPageActs {
  /**
   * Creates the page of the case, or changes the fields that `changes` has.
   *
   * @throws Invalid if another page has the slug, or if the first call leaves out `slug` or `tags`
   */
  putStatusPage(caseId: string, changes: StatusPageChanges, now: number): Promise<StatusPage>;
  /** False if the case has none. */
  deleteStatusPage(caseId: string): Promise<boolean>;
}

export interface StatusPageStore {
  getStatusPage(caseId: string): Promise<StatusPage | null>;
  /** With the time zone of its case; null also if the case is on hold. */
  findStatusPage(slug: string): Promise<PublicPage | null>;
  /** A slice of the case's snitches, in order of creation; those with the tag, or all if it is null. */
  listShown(
    caseId: string,
    slice: { tag: string | null; after: number; limit: number },
  ): Promise<{ snitches: ShownSnitch[]; next: number | null }>;
  /** What is stored about the past of the snitches with these ids, by id. */
  listPasts(page: Pick<StatusPage, 'id' | 'since'>, shown: readonly Looked[]): Promise<Map<number, KeptPast>>;
  /** The newest changes of all snitches of the page's case, newest first. */
  listStatusChanges(pageId: number, limit: number): Promise<ChangeOfSnitch[]>;
  /** When snitches of the case were not watched, as far as that reaches beyond `since`. */
  quietTimes(
    caseId: string,
    since: number,
    now: number,
  ): Promise<{ silences: readonly Silence[]; away: BlindWindow[] }>;
}

export interface PublicPage {
  page: StatusPage;
  /** The case's time zone. */
  timezone: string;
}

/** What a page may need to know about a snitch; the token never leaves the server with it. */
export interface ShownSnitch extends Rhythm {
  id: number;
  token: string;
  name: string;
  publicName: string | null;
  tags: readonly string[];
  status: Status;
  createdAt: number;
}

/** A snitch whose past is wanted. */
export interface Looked {
  id: number;
  token: string;
}

export interface KeptPast {
  changes: KeptChange[];
  alerts: KeptAlert[];
  isCut: boolean;
}

export interface ChangeOfSnitch extends KeptChange {
  snitch: Pick<ShownSnitch, 'id' | 'token' | 'name' | 'publicName' | 'tags'>;
}
