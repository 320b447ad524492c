/**
 * What a snitch needs (`extensions: Acknowledge, silence, depend`): other snitches of its case, by token, or all
 * those with a tag. While something it needs is down, the alert of a missed deadline is held.
 */
import { codePoints } from '../../text/code-points.ts';

export const MOST_NEEDS = 10;

/** The prefix of a need that names a tag. */
const TAG = 'tag:';

/** Longer than any token, and as long as `tag:` with the longest tag; in characters. */
const LONGEST = 104;

/** What a need names. */
export type Need = { token: string } | { tag: string };

/** The alert of a missed deadline that nobody has been told about, because something the snitch needs is down. */
export interface Held {
  /** The number of the needed snitch, and the name it had then. */
  by: number;
  name: string;
  /** When the deadline passed and the alert was held. */
  since: number;
  /** The deadline that was missed. */
  missed: number;
  /** The status that people know: the one before the failure. */
  previous: 'healthy' | 'errored';
  /** Since when nothing it needs has been down, as of the last sweep; null while something is. */
  wellSince: number | null;
  /** The needed snitch is not failed but silenced: somebody is working on it. */
  isSilenced?: true;
  /**
   * The needed snitch is not known to be down, but may be: nothing was heard from it since the missed check-in was
   * expected.
   */
  isUnsure?: true;
}

/** What the alert of a snitch depends on of another snitch that it needs. */
export interface Needed {
  id: number;
  name: string;
  status: string;
  dueAt: number | null;
  lastCheckInAt: number | null;
  /** When it last ceased to be down; null if it never was. */
  wellSince: number | null;
  /** When the silence that covers it ends; null if there is none. */
  silencedUntil: number | null;
}

/** All that one snitch needs, in the order in which it names them. */
export type NeedsFacts = readonly Needed[];

/**
 * Whether it holds the alerts of the snitches that need it. A paused or pending snitch says nothing about its host, and
 * one that reports errors is running. A silenced snitch is not expected to run, and neither are those that need it.
 */
export function isDown({
  status,
  silencedUntil = null,
}: Pick<Needed, 'status'> & Partial<Pick<Needed, 'silencedUntil'>>): boolean {
  return status === 'failed' || silencedUntil !== null;
}

/** Whether its next check-in is awaited, so that missing it would show that it is down. */
export function isAwaiting({ status }: Pick<Needed, 'status'>): boolean {
  return status === 'healthy' || status === 'errored';
}

export function needOf(text: string): Need {
  return text.startsWith(TAG) ? { tag: text.slice(TAG.length) } : { token: text };
}

export function needText(need: Need): string {
  return 'tag' in need ? `${TAG}${need.tag}` : need.token;
}

/** The needs that `given` names, or what is wrong with it, in the words of a validation. */
export function readNeeds(given: unknown): { needs: string[] } | { refused: string } {
  if (given === null || given === undefined) return { needs: [] };
  const list = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(list) || !list.every((one): one is string => typeof one === 'string')) {
    return { refused: 'must be a list of tokens or of tag:<tag>' };
  }
  const needs = list.map(trimmed).filter((need) => need !== '');
  if (needs.length > MOST_NEEDS) return { refused: `has too many (maximum is ${MOST_NEEDS})` };
  for (const [index, need] of needs.entries()) {
    if (need === TAG) return { refused: 'names a tag without saying which: write tag:<tag>' };
    if (codePoints(need) > LONGEST || /\p{Cc}/u.test(need))
      return { refused: 'has an entry that is not a token' };
    if (!need.isWellFormed()) return { refused: 'has an entry that is not well-formed Unicode' };
    if (needs.indexOf(need) < index) return { refused: `names ${need} twice` };
  }
  return { needs };
}

function trimmed(given: string): string {
  const need = given.trim();
  return need.startsWith(TAG) ? TAG + need.slice(TAG.length).trim() : need;
}

/** One step of a path from a snitch to what it needs. */
export interface NeedStep {
  name: string;
  /** The tag by which it is needed; null for a need that names it. */
  tag: string | null;
}

/**
 * A circle of needs in words: `web1 needs db1, which needs web1`.
 *
 * @param path what each one needs in turn, ending with the first snitch itself
 */
export function circleInWords(name: string, path: readonly NeedStep[]): string {
  const steps = path.map(({ name: needed, tag }) => (tag === null ? needed : `${needed} (${TAG}${tag})`));
  return `${name} needs ${steps.join(', which needs ')}`;
}

/** The same needs, in the same order. */
export function areSameNeeds(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((need, index) => need === other[index]);
}
