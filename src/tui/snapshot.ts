/** Prints the table once as text, for output that is not a terminal. */
import type { WireSnitch } from '../api/wire.ts';
import type { Glyphs } from './drawing/glyphs.ts';
import type { Line } from './drawing/line.ts';
import { EMPTY, replaceAll } from './model/collection.ts';
import { type Column, columnsFor } from './model/columns.ts';
import { rowLine, titleLine } from './model/table-lines.ts';

/** Columns that are left out because they need more than the list of snitches, or colours. */
const UNKNOWN: readonly Column['id'][] = ['bar', 'history'];

/** Wide enough for all columns, so that nothing is cut that somebody may search for. */
const WIDTH = 120;

export function snapshot(snitches: readonly WireSnitch[], now: number, glyphs: Glyphs): string {
  const { sorted } = replaceAll(EMPTY, snitches);
  // An older server leaves the deadline out.
  const isTold = snitches.some(({ deadline }) => deadline !== undefined);
  const columns = columnsFor(WIDTH).filter(({ id }) => !UNKNOWN.includes(id) && (isTold || id !== 'due'));
  const look = { columns, width: WIDTH, glyphs, now, detail: undefined, isSelected: false, isMarked: false };
  const lines = [
    titleLine(columns, null, glyphs),
    ...sorted.map((entry) => rowLine(entry, { ...look, isSilenced: Boolean(entry.snitch.silenced) })),
  ];
  return lines.map((line) => `${textOf(line)}\n`).join('');
}

function textOf(line: Line): string {
  return line
    .map(({ text }) => text)
    .join('')
    .trimEnd();
}
