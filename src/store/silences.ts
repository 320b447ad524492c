/** The part of the store for silences; instants are milliseconds since the epoch. */
import type { PlannedSilence } from '../core/explanation/silence-reasons.ts';
import type { SilenceChanges } from '../core/silences/input.ts';
import type { NewSilence, Silence } from '../core/silences/silence.ts';

/** What a step after the ends of silences did. */
export interface SilenceEnds {
  /** Whether there may be more to do. */
  more: boolean;
  /** Alarms that could not be sent; they are tried again. */
  failures: { token: string; error: unknown }[];
}

export interface SilenceActs {
  /**
   * @param given `by` is the name of the key
   * @param most how many silences that are not over the case can have
   * @throws Invalid if it has as many already, or if a token belongs to no snitch of the case
   */
  createSilence(
    caseId: string,
    given: NewSilence & { by: string },
    now: number,
    most?: number,
  ): Promise<Silence>;
  /** Null if the case has no such silence, or if it is over. */
  updateSilence(caseId: string, id: string, changes: SilenceChanges, now: number): Promise<Silence | null>;
  /** Ends it now, unless it is over already. False if the case has no such silence. */
  deleteSilence(caseId: string, id: string, now: number): Promise<boolean>;
}

export interface SilenceStore {
  /** Those of the tags that no snitch of the case has. */
  unknownTags(caseId: string, tags: readonly string[]): Promise<string[]>;
  /** Finds silences that are over for more than a year. */
  getSilence(caseId: string, id: string): Promise<Silence | null>;
  /** Silences that are not over, newest first. */
  listSilences(caseId: string, now: number): Promise<Silence[]>;
  /**
   * Which of the snitches of the case are silenced at `now`, or have a deadline that silences moved, by their tokens, and
   * when they are due after that; null if the case has no silences.
   */
  silencedAmong(
    caseId: string,
    snitches: readonly SilencedCandidate[],
    now: number,
  ): Promise<ReadonlyMap<string, SilencedSnitch | MovedSnitch> | null>;
  /** The same for one snitch, in more detail; null if the case has no silences, or no such snitch. */
  silenceOver(caseId: string, token: string, now: number): Promise<SilenceOver | null>;
  /** What to expect of a snitch that sends nothing more; null if the case has no such snitch. */
  findProspect(caseId: string, token: string, now: number): Promise<Prospect | null>;
  /** One slice of what follows when silences end: snitches that waited for it, and alarms that were kept back. */
  endSilencesSlice(now: number): Promise<SilenceEnds>;
}

export interface SilencedCandidate {
  token: string;
  tags: readonly string[];
  /** When the sweep looks at it; null for never. */
  dueAt: number | null;
}

/** How silences cover a snitch. */
export interface SilencedSnitch {
  /** Of those that cover it, the one that ends last. */
  silence: Silence;
  /** When it can alert again: silences may follow one another without a gap. */
  until: number;
  /** When it is due, as far as silences up to then move that; null if nothing is awaited. */
  dueAt: number | null;
}

/** A snitch that none covers now, but whose deadline those that are over will have moved when it passes. */
export interface MovedSnitch {
  silence: null;
  until: null;
  dueAt: number | null;
}

/** The effect of silences on one snitch. */
export interface SilenceOver {
  /** Null if none holds. */
  silenced: SilencedSnitch | null;
  /** When it is due, taking the silences into account. */
  dueAt: number | null;
  /** Whether an alarm is kept back. */
  isKeptBack: boolean;
}

/** What to expect of a snitch, given all present silences, needs, pauses and acknowledgements. */
export interface Prospect {
  /** When the next alarm or reminder comes; null for never. */
  nextAlertAt: number | null;
  /** What it needs that now holds its alerts: silenced until the given time, or failed. */
  down: { name: string; silencedUntil: number | null } | null;
  /** A silence to come that delays the next alarm or reminder; null if none does. */
  planned: PlannedSilence | null;
}
