/** One message for many alerts that wait for the same target: one outage, one message. */
import { printable, shorten } from '../../text/printable.ts';
import { exactTime, wallMinute } from '../../text/times.ts';
import { Breaks } from './breaks.ts';
import {
  type Digest,
  type EntryKind,
  KINDS,
  lastStates,
  lineOf,
  NAME_SHOWN,
  type SnitchLine,
} from './digest-entry.ts';
import { inOrder } from './in-order.ts';
import type { Letter } from './letter.ts';

/** The room for all lists together, in characters: enough for several hundred snitches. The rest is only counted. */
const LINES_SHOWN = 60_000;

/** Each kind with the word for its count and its heading. */
const WORDS: Record<EntryKind, { word: string; heading: string }> = {
  missing: { word: 'newly missing', heading: 'Newly missing' },
  reminder: { word: 'still missing', heading: 'Still missing' },
  errored: { word: 'with errors', heading: 'With errors' },
  recovered: { word: 'reporting again', heading: 'Reporting again' },
  first: { word: 'reporting for the first time', heading: 'Reporting for the first time' },
  paused: { word: 'paused', heading: 'Paused' },
};

const naturally = new Intl.Collator('en', { numeric: true });

/**
 * Sorting 5,000 names naturally takes 70 ms, during which nothing else runs: longer lists are sorted by character code.
 */
const NATURAL_ORDER = 500;

function orderOfNames(count: number): (one: string, other: string) => number {
  if (count <= NATURAL_ORDER) return naturally.compare;
  return (one, other) => (one < other ? -1 : Number(one > other));
}

/**
 * What a digest says, and the instant of the last alert in it. With 10,000 alerts it takes some tens of milliseconds,
 * during which it gives way to other work.
 *
 * @param room for all lists together, in characters
 */
export async function digestLetter(
  { entries, case: shown }: Digest,
  { room = LINES_SHOWN, breaks = new Breaks() }: { room?: number | undefined; breaks?: Breaks } = {},
): Promise<{
  subject: string;
  letter: Letter;
  last: number;
  /** The last states that the lists show. */
  kinds: readonly EntryKind[];
}> {
  const snitches = await lastStates(entries, breaks);
  const byKind = Map.groupBy(snitches, ({ kind }) => kind);
  const groups = KINDS.map((kind) => ({ kind, ...WORDS[kind], of: byKind.get(kind) ?? [] }));
  const present = groups.filter(({ of }) => of.length > 0);
  const counts = present.map(({ word, of }) => `${of.length} ${word}`).join(', ');
  const first = entries.reduce((earliest, { at }) => Math.min(earliest, at), Number.POSITIVE_INFINITY);
  const last = entries.reduce((latest, { at }) => Math.max(latest, at), 0);
  const each = snitches.length === 1 ? '1 snitch' : `${snitches.length} snitches`;
  const letter: Letter = {
    paragraphs: [
      `${entries.length} alerts of ${shorten(printable(shown.name), NAME_SHOWN)}, about ${each}: ${counts}.`,
      `Each snitch is listed once, in its last state. Times are in ${shown.timezone}.`,
    ],
    fields: [
      { label: 'From', value: exactTime(first, shown.timezone) },
      { label: 'To', value: exactTime(last, shown.timezone) },
    ],
    lists: await listsOf(present, { show: minutesIn(shown.timezone), room, breaks }),
    commands: ['snitch list', 'snitch alerts'],
    footer: `${entries.length} alerts waited for you at the same time and came as one message.`,
  };
  const subject = `[Digest] ${entries.length} alerts of ${shorten(printable(shown.name), 80)}: ${counts}`;
  return { subject, letter, last, kinds: present.map(({ kind }) => kind) };
}

/** Divides the room between the lists: the first, with what is newly missing, may take the most, and is cut last. */
async function listsOf(
  groups: readonly { heading: string; of: readonly SnitchLine[] }[],
  { show, room: all, breaks }: { show: (at: number) => string; room: number; breaks: Breaks },
): Promise<Letter['lists']> {
  const lists: Letter['lists'] = [];
  let room = all;
  for (const [index, { heading, of }] of groups.entries()) {
    // A part is reserved for each list after this one, so a flood of one kind hides no other.
    const share = room - ((groups.length - 1 - index) * all) / (2 * groups.length);
    const items: string[] = [];
    let used = 0;
    await breaks.rest();
    for (const one of inOrder(of, orderOf(of.length))) {
      await breaks.mayRest();
      const line = lineOf(one, show);
      if (used + line.length > share) break;
      used += line.length;
      items.push(line);
    }
    room -= used;
    const left = of.length - items.length;
    lists.push({
      heading: `${heading} (${of.length})`,
      items: left > 0 ? [...items, `and ${left} more`] : items,
    });
  }
  return lists;
}

function orderOf(count: number): (one: SnitchLine, other: SnitchLine) => number {
  const compare = orderOfNames(count);
  return ({ entry: a }, { entry: b }) => compare(a.name, b.name) || a.at - b.at || a.order - b.order;
}

/** Many snitches of an outage share the same deadline, and formatting one takes some microseconds. */
function minutesIn(timezone: string): (at: number) => string {
  const known = new Map<number, string>();
  return (at) => {
    const text = known.get(at) ?? wallMinute(at, timezone);
    known.set(at, text);
    return text;
  };
}
