/** The part of the store for snitches that come from elsewhere, and for the files that snitches are kept in. */
import type { Snitch, SnitchFields } from '../core/snitch.ts';

/** Without a token it gets a new one. */
export interface ImportedSnitch extends SnitchFields {
  token: string | null;
}

/** A snitch and the name of the file that it is kept in. */
export interface Owned {
  token: string;
  owner: string;
}

export interface ImportBatch {
  imported: readonly ImportedSnitch[];
  /** Null for snitches that no file keeps. */
  owner: string | null;
  /**
   * The snitches that the client knows of. A name is refused that another one has which the owner keeps, or nobody does:
   * it was made since the client looked. Null where names may repeat.
   */
  known?: readonly string[] | null;
}

/** What is to change of one snitch. */
export interface SnitchChange {
  token: string;
  changes: Partial<SnitchFields>;
}

export interface OwnershipStore {
  /** The case that has this token, or null. */
  ownerOfToken(token: string): Promise<string | null>;
  /** How many snitches the case may still make; null for no limit. */
  roomForSnitches(caseId: string): Promise<number | null>;
  listOwnership(
    caseId: string,
    slice: { after: number; limit: number },
  ): Promise<{ owned: Owned[]; next: number | null }>;
}

/** What people do with many snitches at once. */
export interface OwnershipActs {
  /** Makes all of them or none. */
  importSnitches(caseId: string, batch: ImportBatch, now: number): Promise<Snitch[]>;
  /** Changes all of them or none. */
  updateSnitches(caseId: string, changes: readonly SnitchChange[], now: number): Promise<Snitch[]>;
  /** Deletes those of `tokens` that the case has. */
  deleteSnitches(caseId: string, tokens: readonly string[]): Promise<void>;
  /** Gives all of `tokens` to `owner`, or frees them where it is null. */
  setOwnership(caseId: string, tokens: readonly string[], owner: string | null): Promise<void>;
}
