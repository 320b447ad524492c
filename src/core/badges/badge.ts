/** Badges: small pictures for a page of somebody else that say how a snitch is, or the snitches with a tag. */
import { editable, shorten } from '../../text/printable.ts';
import { type PublicState, publicNameOf } from '../status-page/state.ts';

/** What a badge is for. */
export type BadgeSubject =
  | {
      kind: 'snitch';
      token: string;
      /** The name that it has now. */
      name: string;
      /** What others are told in its place; null for the name. */
      publicName: string | null;
    }
  | { kind: 'tag'; tag: string };

export interface Badge {
  /** Random: whoever knows it sees the badge, and can do nothing else with it. */
  id: string;
  caseId: string;
  subject: BadgeSubject;
  /** Null for the public name of the snitch, or else its name, or the tag, as it is called at the time. */
  label: string | null;
  createdAt: number;
}

/** What a badge says: how the snitch is as on the status page, or that there is none. */
export type BadgeState = PublicState | 'unknown';

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
 * For a tag, the first of them that one of its snitches has. One that nobody expects anything of now says nothing of the
 * others, so these count only where there is nothing else.
 */
const WORST_FIRST: readonly PublicState[] = ['missing', 'error', 'well', 'planned', 'pending', 'paused'];

export function worstOf(states: ReadonlySet<PublicState>): BadgeState {
  return WORST_FIRST.find((state) => states.has(state)) ?? 'unknown';
}

/** Whether no other state could be worse. */
export function isWorst(state: PublicState): boolean {
  return state === WORST_FIRST[0];
}

/** What stands on the right of a badge. */
export function wordOf(state: BadgeState): string {
  return state === 'planned' ? 'planned work' : state;
}

/** In names of colours that badge-maker and shields.io know. */
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

/** Whether something is wrong: whoever shows the badge may then not give it another colour. */
export function isAlarming(state: BadgeState): boolean {
  return state === 'missing' || state === 'error';
}

export function labelOf({ label, subject }: Pick<Badge, 'label' | 'subject'>): string {
  return shownLabel(label ?? (subject.kind === 'snitch' ? publicNameOf(subject) : subject.tag));
}

/** Noncharacters, which XML does not allow and no font shows. */
const NONCHARACTERS = /\p{Noncharacter_Code_Point}/gu;

/** In the place of a name that nobody could see. */
export const NO_NAME = '(no name)';

/** Names of old snitches, and such as were brought along from elsewhere, may hold what no picture can. */
export function shownLabel(text: string): string {
  const line = editable(text.toWellFormed()).replace(NONCHARACTERS, '').replace(/\s+/g, ' ').trim();
  return line === '' ? NO_NAME : shorten(line, LABEL_SHOWN);
}
