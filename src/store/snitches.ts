/**
 * The part of the store for snitches. A snitch of another case is as unknown as one that does not exist: null or
 * false. `now` is in milliseconds since the epoch.
 */
import type { ListedSnitch, PauseUntil, Snitch, SnitchFields } from '../core/snitch.ts';

export interface SnitchStore {
  hasRoomForSnitch(caseId: string): Promise<boolean>;
  getSnitch(caseId: string, token: string): Promise<Snitch | null>;
  /** In order of creation, keyset by the position that the last slice ended with. */
  listSnitches(
    caseId: string,
    slice: { after: number; limit: number; tags: readonly string[] },
  ): Promise<{ snitches: ListedSnitch[]; next: number | null }>;
}

/** What people do with snitches. */
export interface SnitchActs {
  /** @throws PlanLimitReached where the case has as many as it may */
  createSnitch(caseId: string, fields: SnitchFields, now: number): Promise<Snitch>;
  updateSnitch(
    caseId: string,
    token: string,
    changes: Partial<SnitchFields>,
    now: number,
  ): Promise<Snitch | null>;
  /** Answers with all tags that the snitch then has. */
  addTags(caseId: string, token: string, tags: readonly string[]): Promise<string[] | null>;
  /** Removes the first of `spellings` that the snitch has. */
  removeTag(caseId: string, token: string, spellings: readonly string[]): Promise<string[] | null>;
  deleteSnitch(caseId: string, token: string): Promise<boolean>;
  /** @throws Invalid for a snitch that is pending */
  pauseSnitch(caseId: string, token: string, until: PauseUntil, now: number): Promise<boolean>;
  unpauseSnitch(caseId: string, token: string, now: number): Promise<boolean>;
}
