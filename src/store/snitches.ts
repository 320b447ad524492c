/**
 * The part of the store for snitches. A snitch of another case is as unknown as one that does not exist: null or
 * false. `now` is in milliseconds since the epoch.
 */
import type { ListedSnitch, PauseUntil, Snitch, SnitchFields, SnitchState } from '../core/snitch.ts';

/** A part of a list, after the position that the last slice ended with; only snitches that have all of `tags`. */
export interface TaggedSlice {
  after: number;
  limit: number;
  tags: readonly string[];
}

/** The snitch that a figure is about. */
export interface NamedSnitch {
  /** A number that no other snitch of the server has at the same time. Unlike the token, it gives no access. */
  id: number;
  token: string;
  name: string;
  tags: string[];
}

/** What monitoring wants to know about a snitch. */
export interface MeasuredSnitch extends NamedSnitch {
  state: Pick<SnitchState, 'status' | 'dueAt'>;
  /** Last healthy check-in, or null. */
  checkedInAt: number | null;
  /** Last check-in that ended a run, or null. */
  lastCheckInAt: number | null;
  /** Length of the last run that has ended; null if its start was not reported. */
  durationMs: number | null;
  /** The deadline that a failed snitch missed; null for others, and if it is no longer known. */
  missingSince: number | null;
  isAcknowledged: boolean;
  /** Its alert is held, because something that it needs is down. */
  isHeld: boolean;
}

/** The last of each value that a job reported. */
export interface ReportedSnitch extends NamedSnitch {
  values: [name: string, last: number][];
}

export interface SnitchStore {
  hasRoomForSnitch(caseId: string): Promise<boolean>;
  getSnitch(caseId: string, token: string): Promise<Snitch | null>;
  /**
   * In order of creation, after the position that the last slice ended with.
   *
   * @param slice with a name: only the snitches with that name, and the one with it as its token
   */
  listSnitches(
    caseId: string,
    slice: TaggedSlice & { name?: string | null },
  ): Promise<{ snitches: ListedSnitch[]; next: number | null }>;
  listMeasured(
    caseId: string,
    slice: TaggedSlice,
  ): Promise<{ snitches: MeasuredSnitch[]; next: number | null }>;
  /** Only those whose jobs ever reported a value. */
  listReported(
    caseId: string,
    slice: TaggedSlice,
  ): Promise<{ snitches: ReportedSnitch[]; next: number | null }>;
}

/** What people do with snitches. */
export interface SnitchActs {
  /** @throws PlanLimitReached if the case has as many as it can have */
  createSnitch(caseId: string, fields: SnitchFields, now: number): Promise<Snitch>;
  updateSnitch(
    caseId: string,
    token: string,
    changes: Partial<SnitchFields>,
    now: number,
  ): Promise<Snitch | null>;
  /** Returns all tags that the snitch then has. */
  addTags(caseId: string, token: string, tags: readonly string[]): Promise<string[] | null>;
  /** Removes the first of `spellings` that the snitch has. */
  removeTag(caseId: string, token: string, spellings: readonly string[]): Promise<string[] | null>;
  deleteSnitch(caseId: string, token: string): Promise<boolean>;
  /** @throws Invalid for a snitch that is pending */
  pauseSnitch(caseId: string, token: string, until: PauseUntil, now: number): Promise<boolean>;
  unpauseSnitch(caseId: string, token: string, now: number): Promise<boolean>;
}
