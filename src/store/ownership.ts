/** The part of the store for snitches that come from elsewhere, and for the files that own snitches. */
import type { Snitch, SnitchFields } from '../core/snitch.ts';

/** If it has no token, it gets a new one. */
export interface ImportedSnitch extends SnitchFields {
  token: string | null;
}

/** A snitch and the name of the file that owns it. */
export interface Owned {
  token: string;
  owner: string;
}

export interface ImportBatch {
  imported: readonly ImportedSnitch[];
  /** Null for snitches that no file owns. */
  owner: string | null;
  /**
   * The tokens of the snitches that the client knows. A name is refused if another snitch has it that the owner owns,
   * or nobody does: it was created since the client looked. Null if names can repeat.
   */
  known?: readonly string[] | null;
}

/** What to change in one snitch. */
export interface SnitchChange {
  token: string;
  changes: Partial<SnitchFields>;
}

export interface OwnershipStore {
  /** The id of the case that has this token, or null. */
  ownerOfToken(token: string): Promise<string | null>;
  /** How many more snitches the case can have; null for no limit. */
  roomForSnitches(caseId: string): Promise<number | null>;
  listOwnership(
    caseId: string,
    slice: { after: number; limit: number },
  ): Promise<{ owned: Owned[]; next: number | null }>;
}

/** What people do with many snitches at once. */
export interface OwnershipActs {
  /** Creates all of them or none. */
  importSnitches(caseId: string, batch: ImportBatch, now: number): Promise<Snitch[]>;
  /** Changes all of them or none. */
  updateSnitches(caseId: string, changes: readonly SnitchChange[], now: number): Promise<Snitch[]>;
  /** Deletes those of `tokens` that the case has. */
  deleteSnitches(caseId: string, tokens: readonly string[]): Promise<void>;
  /** Gives all of `tokens` to `owner`, or frees them if it is null. */
  setOwnership(caseId: string, tokens: readonly string[], owner: string | null): Promise<void>;
}
