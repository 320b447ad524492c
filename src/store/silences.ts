/** The part of the store for silences; instants are milliseconds since the epoch. */
import type { SilenceChanges } from '../core/silences/input.ts';
import type { NewSilence, Silence } from '../core/silences/silence.ts';

/** What a step behind the ends of silences did. */
export interface SilenceEnds {
  /** Whether there may be more to do. */
  more: boolean;
  /** Alarms that could not be told; they are tried again. */
  failures: { token: string; error: unknown }[];
}

export interface SilenceActs {
  /**
   * @param given `by` is the name of the key
   * @param most how many that are not over the case may have
   * @throws Invalid where it has as many already, or where a token is none of a snitch of the case
   */
  createSilence(
    caseId: string,
    given: NewSilence & { by: string },
    now: number,
    most?: number,
  ): Promise<Silence>;
  /** Null where the case has no such silence, or where it is over. */
  updateSilence(caseId: string, id: string, changes: SilenceChanges, now: number): Promise<Silence | null>;
  /** Ends it now; nothing happens to one that is over. False where the case has no such silence. */
  deleteSilence(caseId: string, id: string, now: number): Promise<boolean>;
}

export interface SilenceStore {
  /** Those of the tags that no snitch of the case has. */
  unknownTags(caseId: string, tags: readonly string[]): Promise<string[]>;
  /** One that is over is found for more than a year. */
  getSilence(caseId: string, id: string): Promise<Silence | null>;
  /** Those that are not over, the newest first. */
  listSilences(caseId: string, now: number): Promise<Silence[]>;
  /**
   * Which of the snitches of the case are silenced at `now`, by their tokens, and when they are due behind that; a
   * case that has no silences answers null.
   */
  silencedAmong(
    caseId: string,
    snitches: readonly SilencedCandidate[],
    now: number,
  ): Promise<ReadonlyMap<string, SilencedSnitch> | null>;
  /** The same of one snitch, in more detail; null where the case has no silences, or no such snitch. */
  silenceOver(caseId: string, token: string, now: number): Promise<SilenceOver | null>;
  /** What comes of a snitch of which nothing more is heard; null where the case has no such snitch. */
  findProspect(caseId: string, token: string, now: number): Promise<Prospect | null>;
  /** Does a slice of what follows when silences end: looks that waited for it, and alarms that were kept back. */
  endSilencesSlice(now: number): Promise<SilenceEnds>;
}

export interface SilencedCandidate {
  token: string;
  tags: readonly string[];
  /** When the sweep looks at it; null for never. */
  dueAt: number | null;
}

/** How a silence holds over a snitch. */
export interface SilencedSnitch {
  /** Of those that cover it the one that ends last. */
  silence: Silence;
  /** When it is heard again: silences may follow one another without a gap. */
  until: number;
  /** As given, or behind the silence where it lies in it; null where nothing is awaited. */
  dueAt: number | null;
}

/** What silences make of one snitch. */
export interface SilenceOver {
  /** Null where none holds. */
  silenced: SilencedSnitch | null;
  /** When it is due, the silences allowed for that are over. */
  dueAt: number | null;
  /** Whether an alarm is kept back. */
  isKeptBack: boolean;
}

/** What is to be expected of a snitch, all silences, needs, pauses and acknowledgements of now allowed for. */
export interface Prospect {
  /** When the next alarm or reminder comes; null for never. */
  nextAlertAt: number | null;
  /** What it needs and holds its alerts now: silenced until then, or failed. */
  down: { name: string; silencedUntil: number | null } | null;
}
