/** Changes to the code that make no difference to what it does. No test can notice them, so they do not count. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutation } from './mutations.ts';

export interface Equivalent {
  file: string;
  /** The line in which the change begins, and what it becomes; both without surrounding blanks. */
  line: string;
  becomes: string;
  /** Why nobody can tell the difference. */
  because: string;
}

export const EQUIVALENTS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'equivalents.json'), 'utf8'),
) as readonly Equivalent[];

/** The entry of `all` that describes this change, if there is one. */
export function equivalentOf(
  file: string,
  text: string,
  { start, end, replacement }: Pick<Mutation, 'start' | 'end' | 'replacement'>,
  all: readonly Equivalent[] = EQUIVALENTS,
): Equivalent | undefined {
  const changed = text.slice(0, start) + replacement + text.slice(end);
  const line = lineAt(text, start);
  const becomes = lineAt(changed, start);
  return all.find((one) => one.file === file && one.line === line && one.becomes === becomes);
}

function lineAt(text: string, place: number): string {
  const from = text.lastIndexOf('\n', place - 1) + 1;
  const to = text.indexOf('\n', place);
  return text.slice(from, to < 0 ? undefined : to).trim();
}
