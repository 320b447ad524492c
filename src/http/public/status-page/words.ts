/** The states of snitches, in words for people who know nothing about this program. */
import { type Mark, periodsInWords } from '../../../core/status-page/strip.ts';
import { MINUTE, shortDuration } from '../../../text/durations.ts';
import { MONTHS, zonedOf } from '../../../text/times.ts';
import type { ShownLine, State } from './collect.ts';

/** `22 Nov 2026, 07:43` in the time zone, which is named elsewhere. */
export function timeInWords(at: number, timezone: string): string {
  const { hour, minute } = zonedOf(at, timezone);
  return `${dayInWords(at, timezone)}, ${twoDigits(hour)}:${twoDigits(minute)}`;
}

/** `22 Nov 2026` */
export function dayInWords(at: number, timezone: string): string {
  const { day, month, year } = zonedOf(at, timezone);
  return `${day} ${MONTHS[month - 1]} ${year}`;
}

/** `Europe/Berlin, UTC+01:00` */
export function zoneInWords(at: number, timezone: string): string {
  return timezone === 'UTC' ? 'UTC' : `${timezone}, UTC${zonedOf(at, timezone).offset}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

const STATES: Record<State, string> = {
  well: 'Well',
  missing: 'Has not reported',
  error: 'Reported an error',
  planned: 'Planned work',
  paused: 'Paused',
  pending: 'Has not reported yet',
};

export interface StateInWords {
  text: string;
  /** An instant that follows the text, and the word before it. */
  time: { word: 'since' | 'until'; at: number } | null;
  /** How long it has lasted; empty if that does not matter. */
  length: string;
}

export function stateInWords({ state, since, until }: ShownLine, now: number): StateInWords {
  const text = STATES[state];
  if (state === 'planned')
    return { text, time: until === null ? null : { word: 'until', at: until }, length: '' };
  const isBad = state === 'missing' || state === 'error';
  const lasts = isBad && since !== null ? now - since : 0;
  const length = lasts < MINUTE ? '' : shortDuration(lasts);
  return { text, time: since === null ? null : { word: 'since', at: since }, length };
}

/** What a mark of a strip means. */
export const MARK_WORDS: Record<Mark, string> = {
  well: 'well',
  missing: 'did not report',
  error: 'reported an error',
  paused: 'paused',
  planned: 'planned work',
  away: 'not watched: the monitoring itself was down',
  none: 'nothing known',
};

/** When a period began, as briefly as possible: `22 Nov 2026`, or `22 Nov, 07:00` for one that is not a whole day. */
export function periodInWords({ rhythm }: Pick<ShownLine, 'rhythm'>, at: number, timezone: string): string {
  const { day, month, hour, minute } = zonedOf(at, timezone);
  const isDay = rhythm.schedule === null && ['daily', 'weekly', 'monthly'].includes(rhythm.interval);
  if (isDay) return dayInWords(at, timezone);
  return `${day} ${MONTHS[month - 1]}, ${twoDigits(hour)}:${twoDigits(minute)}`;
}

/** How many periods of a strip are named by their times. */
const MOST_NAMED = 5;

/**
 * The strip in words, for those who cannot see it: `Last 60 days: 58 well, 2 did not report (20 Nov 2026, 21 Nov
 * 2026).`
 */
export function stripInWords(line: ShownLine, timezone: string): string {
  const { marks, edges, rhythm } = line;
  const places = Map.groupBy(
    marks.map((mark, index) => ({ mark, at: edges[index] ?? 0 })),
    ({ mark }) => mark,
  );
  const parts = [...places].map(([mark, found]) => {
    const named = mark === 'missing' || mark === 'error' ? found.slice(-MOST_NAMED) : [];
    const more = found.length - named.length;
    const times = named.map(({ at }) => periodInWords(line, at, timezone)).join('; ');
    const shown = named.length === 0 ? '' : ` (${times}${more > 0 ? `; and ${more} earlier` : ''})`;
    return `${found.length} ${MARK_WORDS[mark]}${shown}`;
  });
  return `Last ${marks.length} ${periodsInWords(rhythm)}: ${parts.join(', ')}.`;
}

/** `58 of 60 days well`; empty if nothing is known about any period. */
export function shareInWords({ marks, rhythm }: ShownLine): string {
  const known = marks.filter((mark) => mark === 'well' || mark === 'missing' || mark === 'error');
  if (known.length === 0) return '';
  const well = known.filter((mark) => mark === 'well').length;
  return `${well} of ${known.length} ${periodsInWords(rhythm)} well`;
}
