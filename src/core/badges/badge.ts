/** Badges: small pictures, for other people's pages, that show how a snitch is doing, or the snitches with a tag. */
import { editable, shorten } from '../../text/printable.ts';
import { type PublicState, publicNameOf } from '../status-page/state.ts';

/** What a badge is for. */
export type BadgeSubject =
  | {
      kind: 'snitch';
      token: string;
      /** Its current name. */
      name: string;
      /** What outsiders see instead of the name; null to show them the name. */
      publicName: string | null;
    }
  | { kind: 'tag'; tag: string };

export interface Badge {
  /** Random: whoever knows it sees the badge, and can do nothing else with it. */
  id: string;
  caseId: string;
  subject: BadgeSubject;
  /** Null to show the snitch's current public name (or else its name), or the tag. */
  label: string | null;
  createdAt: number;
}

/** What a badge says: the state of the snitch as on the status page, or that there is no snitch. */
export type BadgeState = PublicState | 'unknown';

/** What a badge shows at one moment. */
export interface BadgeFace {
  label: string;
  state: BadgeState;
}

/** The most badges a case can have. */
export const MOST_BADGES = 500;

/** The longest label accepted, in characters. */
export const LONGEST_LABEL = 100;

/** How much of a label is shown, in UTF-16 units: a name can be too long for a picture within a line of text. */
const LABEL_SHOWN = 100;

/**
 * A tag's badge shows the first of these that one of its snitches has. A snitch that nobody expects anything from at
 * present tells us nothing about the others, so its state counts only if there is no other.
 */
const WORST_FIRST: readonly PublicState[] = ['missing', 'error', 'well', 'planned', 'pending', 'paused'];

export function worstOf(states: ReadonlySet<PublicState>): BadgeState {
  return WORST_FIRST.find((state) => states.has(state)) ?? 'unknown';
}

/** Whether no other state is worse. */
export function isWorst(state: PublicState): boolean {
  return state === WORST_FIRST[0];
}

/** The text on the right of a badge. */
export function wordOf(state: BadgeState): string {
  return state === 'planned' ? 'planned work' : state;
}

/** Colour names that badge-maker and shields.io know. */
const COLORS: Record<BadgeState, string> = {
  missing: 'red',
  error: 'orange',
  well: 'brightgreen',
  planned: 'blue',
  pending: 'lightgrey',
  paused: 'lightgrey',
  unknown: 'lightgrey',
};

export function colorOf(state: BadgeState): string {
  return COLORS[state];
}

/** Whether something is wrong: a page that shows the badge can then not recolour it. */
export function isAlarming(state: BadgeState): boolean {
  return state === 'missing' || state === 'error';
}

export function labelOf({ label, subject }: Pick<Badge, 'label' | 'subject'>): string {
  return shownLabel(label ?? (subject.kind === 'snitch' ? publicNameOf(subject) : subject.tag));
}

/** Noncharacters, which XML does not allow and no font shows. */
const NONCHARACTERS = /\p{Noncharacter_Code_Point}/gu;

/** Replaces a name that nobody could see. */
export const NO_NAME = '(no name)';

/** Names of old or imported snitches may contain characters that no picture can show. */
export function shownLabel(text: string): string {
  const line = editable(text.toWellFormed()).replace(NONCHARACTERS, '').replace(/\s+/g, ' ').trim();
  return line === '' ? NO_NAME : shorten(line, LABEL_SHOWN);
}
