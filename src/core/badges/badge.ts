/** Badges: small pictures for a page of somebody else that say how a snitch is, or the snitches with a tag. */
import { editable, shorten } from '../../text/printable.ts';
import type { Status } from '../snitch.ts';

/** What a badge is for. */
export type BadgeSubject =
  | { kind: 'snitch'; token: string /** The name that it has now. */; name: string }
  | { kind: 'tag'; tag: string };

export interface Badge {
  /** Random: whoever knows it sees the badge, and can do nothing else with it. */
  id: string;
  caseId: string;
  subject: BadgeSubject;
  /** Null for the name of the snitch, or the tag, as it is called at the time. */
  label: string | null;
  createdAt: number;
}

/** What a badge says: the status in the words of the API, or that there is none. */
export type BadgeState = Status | 'unknown';

/** What stands on a badge at one time. */
export interface BadgeFace {
  label: string;
  state: BadgeState;
}

/** The badges that a case has at most. */
export const MOST_BADGES = 500;

/** What is given, in characters. */
export const LONGEST_LABEL = 100;

/** What is shown of a label, in UTF-16 units: a name may be longer than a picture that stands in a line of text. */
const LABEL_SHOWN = 100;

/**
 * For a tag, the first of them that one of its snitches has. One that is paused or never checked in says nothing of the
 * others, so these count only where there is nothing else.
 */
const WORST_FIRST: readonly Status[] = ['failed', 'errored', 'healthy', 'pending', 'paused'];

export function worstOf(statuses: ReadonlySet<Status>): BadgeState {
  return WORST_FIRST.find((status) => statuses.has(status)) ?? 'unknown';
}

/** Whether no other status could be worse. */
export function isWorst(status: Status): boolean {
  return status === WORST_FIRST[0];
}

/** In names of colours that badge-maker and shields.io know. */
const COLORS: Record<BadgeState, string> = {
  failed: 'red',
  errored: 'orange',
  healthy: 'brightgreen',
  pending: 'blue',
  paused: 'lightgrey',
  unknown: 'lightgrey',
};

export function colorOf(state: BadgeState): string {
  return COLORS[state];
}

/** Whether something is wrong: whoever shows the badge may then not give it another colour. */
export function isAlarming(state: BadgeState): boolean {
  return state === 'failed' || state === 'errored';
}

export function labelOf({ label, subject }: Pick<Badge, 'label' | 'subject'>): string {
  return shownLabel(label ?? (subject.kind === 'snitch' ? subject.name : subject.tag));
}

/** Noncharacters, which XML does not allow and no font shows. */
const NONCHARACTERS = /\p{Noncharacter_Code_Point}/gu;

/** Names of old snitches, and such as were brought along from elsewhere, may hold what no picture can. */
export function shownLabel(text: string): string {
  const line = editable(text.toWellFormed()).replace(NONCHARACTERS, '').replace(/\s+/g, ' ').trim();
  return shorten(line, LABEL_SHOWN);
}
