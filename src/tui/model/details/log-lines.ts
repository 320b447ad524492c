/** Who changed a snitch, as lines of its details. */
import { didInWords } from '../../../core/activity/words.ts';
import { printable } from '../../../text/printable.ts';
import { wallMinute, wallTime } from '../../../text/times.ts';
import { wrapWords } from '../../../text/width.ts';
import type { Line } from '../line.ts';
import type { SnitchDetail } from '../state.ts';

/** How many of the last changes the details show. */
export const LOG_SHOWN = 5;

export function logLines(
  { log = [], explanation: { timezone } }: Pick<SnitchDetail, 'log' | 'explanation'>,
  { width }: { width: number },
): Line[] {
  if (log.length === 0) return [];
  const local = (iso: string) => wallMinute(Date.parse(iso), timezone);
  const lines = log.slice(0, LOG_SHOWN).flatMap((entry): Line[] => {
    const time = `${wallTime(Date.parse(entry.at), timezone)}  `;
    const words = printable(`${entry.by.name} ${didInWords(entry, local, 'it')}`);
    const [first = '', ...rest] = wrapWords(words, Math.max(1, width - time.length));
    const heading: Line = [{ text: time, dim: true }, { text: first }];
    return [heading, ...rest.map((text): Line => [{ text: `${' '.repeat(time.length)}${text}` }])];
  });
  return [[], [{ text: 'Last changes', bold: true }], ...lines];
}
