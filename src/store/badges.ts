/** The part of the store for badges; instants are milliseconds since the epoch. */
import type { Badge } from '../core/badges/badge.ts';
import type { NewBadge } from '../core/badges/input.ts';
import type { Status } from '../core/snitch.ts';

export interface BadgeStore {
  getBadge(caseId: string, id: string): Promise<Badge | null>;
  /** Newest first. */
  listBadges(caseId: string): Promise<Badge[]>;
  /** What anybody who knows the id can see; null for a badge that does not exist, or whose case is on hold. */
  findBadge(id: string): Promise<ShownBadge | null>;
  /** The statuses of the snitches with the tag, in the next slice after `after`. */
  tagStatuses(caseId: string, tag: string, after: number): Promise<TagStatuses>;
}

export interface ShownBadge {
  label: string;
  caseId: string;
  /** The case's time zone. */
  timezone: string;
  /** For a tag, the statuses are read in slices, with `tagStatuses`. */
  of:
    | { kind: 'snitch'; token: string; tags: readonly string[]; status: Status }
    | { kind: 'tag'; tag: string };
}

export interface TagStatuses {
  statuses: Set<Status>;
  /** Where the next slice begins; null at the end. */
  next: number | null;
}

export interface BadgeActs {
  /**
   * @param most how many badges the case can have; no limit if absent
   * @throws Invalid if it has as many already, or if no snitch of the case has the token
   */
  createBadge(caseId: string, given: NewBadge, now: number, most?: number): Promise<Badge>;
  /** False if the case has no such badge. */
  deleteBadge(caseId: string, id: string): Promise<boolean>;
}
