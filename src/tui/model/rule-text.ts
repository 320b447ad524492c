/** What a run must look like, as somebody types it into the fields of the form. */
import type { WireExpectation, WireSnitch } from '../../api/wire.ts';
import { expectTexts, mergedExpectations, readExpectText } from '../../core/judgement/expect-text.ts';
import type { Expectation } from '../../core/judgement/rules.ts';
import { MOST_FAILURES } from '../../core/run-rule-fields.ts';
import { printable, shorten } from '../../text/printable.ts';
import type { Read } from './schedule-text.ts';

/** A refusal quotes the part that it is about, cut to this length, so that the reason fits on a narrow screen too. */
const LONGEST_QUOTED = 30;

/** Reads `bytes>=1M, errors?<=3`; null for an empty text. Limits on the same value need not be next to each other. */
export function readExpectations(text: string): Read<Expectation[] | null> {
  const parts = partsOf(text);
  const read: Expectation[] = [];
  for (const part of parts) {
    const one = readExpectText(part);
    if (typeof one === 'string') {
      return { problem: `"${printable(shorten(part, LONGEST_QUOTED))}": ${one}` };
    }
    read.push(one);
  }
  return { value: read.length === 0 ? null : mergedExpectations(read) };
}

/** The text that `readExpectations` reads back. */
export function expectationsText(expect: readonly WireExpectation[] | null): string {
  return (expect ?? []).flatMap(expectTexts).join(', ');
}

/** How many failures in a row; null for an empty text. */
export function readCount(text: string): Read<number | null> {
  const typed = text.trim();
  if (typed === '') return { value: null };
  const count = /^\d+$/.test(typed) ? Number(typed) : 0;
  if (count >= 1 && count <= MOST_FAILURES) return { value: count };
  return { problem: `must be a whole number from 1 to ${MOST_FAILURES}` };
}

/** The parts of a list that are separated by commas, without empty ones. */
export function partsOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** What a snitch needs: by name, unless the name would be read as something else. */
export function needsText(needs: readonly string[], present: readonly WireSnitch[]): string {
  const nameOf = (need: string) => {
    const name = present.find(({ token }) => token === need)?.name ?? need;
    const isPlain = !name.includes(',') && tokenOf(name, present) === need;
    return isPlain ? name : need;
  };
  return needs.map(nameOf).join(', ');
}

/** The token of the snitch with this name. A tag, a token, and a name of no snitch or of several stay as they are. */
export function tokenOf(need: string, present: readonly WireSnitch[]): string {
  if (need.startsWith('tag:') || present.some(({ token }) => token === need)) return need;
  const [first, ...others] = present.filter(({ name }) => name === need);
  return first && others.length === 0 ? first.token : need;
}
