/** One snitch of a file, in the form that the server expects. */
import { intervalOf } from '../output/interval-words.ts';
import { DUE_FIELDS, withSeconds } from './due-fields.ts';
import { RUN_FIELDS, withExpectations } from './run-fields.ts';

export interface FileEntry {
  /** In the form that the server expects. The values are not checked yet. */
  input: Record<string, unknown>;
  /** The name under which the server knows that a file keeps the snitch; null if no file keeps it. */
  owner: string | null;
  line: number;
  /** The lines of its fields. */
  lines: Readonly<Record<string, number>>;
}

export type MapOfFile = Omit<FileEntry, 'owner'>;

/**
 * An entry describes the whole snitch: what is missing or null has its default, except for the fields of when it is
 * due, what its runs must look like, and what it needs.
 */
export function entryOf({ input, line, lines }: MapOfFile, owner: string | null): FileEntry {
  const dropped: readonly string[] = [...DUE_FIELDS, ...RUN_FIELDS, 'needs'];
  const given = Object.entries(input).filter(
    ([name, value]) => (value !== null || dropped.includes(name)) && name !== 'owner',
  );
  return {
    input: withSeconds(withExpectations(withPlainInterval(Object.fromEntries(given)))),
    owner,
    line,
    lines,
  };
}

/** Understands `15m` and `every 2 hours`, as all commands do. Anything else is left for the server to refuse. */
function withPlainInterval(input: Record<string, unknown>): Record<string, unknown> {
  if (typeof input.interval !== 'string') return input;
  try {
    return { ...input, interval: intervalOf(input.interval) };
  } catch {
    return input;
  }
}
