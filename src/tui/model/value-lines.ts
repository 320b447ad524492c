/** The values that a job reports, each with a small drawing of the last runs. */
import type { WireCheckIn } from '../../api/wire.ts';
import type { WireValue } from '../../api/wire-explanation.ts';
import { roundedNumber } from '../../core/judgement/number-words.ts';
import { sparkline } from '../drawing/bar.ts';
import type { Glyphs } from '../drawing/glyphs.ts';
import type { Line } from '../drawing/line.ts';

/** How many names are shown; a job may report more. */
const MOST = 8;
const LABEL = 14;
/** Columns that are left for the words after the drawing. */
const WORDS = 30;
const LONGEST = 40;

/** @param checkIns newest first @returns for each value one line, or two on a narrow terminal */
export function valueLines(
  checkIns: readonly WireCheckIn[],
  known: readonly WireValue[],
  { glyphs, width }: { glyphs: Glyphs; width: number },
): Line[] {
  return known
    .toReversed()
    .slice(0, MOST)
    .flatMap(({ name, last, usual }) => {
      const told = checkIns.map(({ values }) => values?.[name]).filter((one) => one !== undefined);
      const drawn = drawing(told.slice(0, columnsFor(width)).reverse(), glyphs);
      const normal = usual === null ? '' : `, usual ${roundedNumber(usual)}`;
      const label: Line = [{ text: name.padEnd(LABEL), dim: true }];
      const line: Line = [{ text: drawn, color: 'cyan' }];
      const words: Line = [{ text: `last ${roundedNumber(last)}${normal}`, dim: true }];
      const isWide = width >= LABEL + WORDS + columnsFor(width);
      if (isWide) return [[...label, ...line, { text: '  ' }, ...words]];
      return [[...label, ...words], line];
    });
}

function columnsFor(width: number): number {
  return Math.max(1, Math.min(LONGEST, width));
}

/** If there are values below zero, the drawing begins at the lowest of them. */
function drawing(values: readonly number[], glyphs: Glyphs): string {
  const lowest = Math.min(0, ...values);
  return sparkline(
    values.map((value) => value - lowest),
    glyphs,
  );
}
