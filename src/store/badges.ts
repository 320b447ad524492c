/** The part of the store for badges; instants are milliseconds since the epoch. */
import type { Badge } from '../core/badges/badge.ts';
import type { NewBadge } from '../core/badges/input.ts';
import type { Status } from '../core/snitch.ts';

export interface BadgeStore {
  getBadge(caseId: string, id: string): Promise<Badge | null>;
  /** The newest first. */
  listBadges(caseId: string): Promise<Badge[]>;
  /** What anybody who knows the id may see; null for one that does not exist, or exists no more, and while its case is on hold. */
  findBadge(id: string): Promise<ShownBadge | null>;
  /**
   * Which statuses the snitches with the tag have, of the next ones behind `after`.
   */
  tagStatuses(caseId: string, tag: string, after: number): Promise<TagStatuses>;
}

export interface ShownBadge {
  label: string;
  caseId: string;
  /** Of the case. */
  timezone: string;
  /** How the snitches with a tag are is asked for in slices. */
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
   * @param most how many badges the case may have; no limit when absent
   * @throws Invalid where it has as many already, or where the token is none of a snitch of the case
   */
  createBadge(caseId: string, given: NewBadge, now: number, most?: number): Promise<Badge>;
  /** False where the case has no such badge. */
  deleteBadge(caseId: string, id: string): Promise<boolean>;
}
