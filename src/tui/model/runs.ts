/** The runs of a job: the one that is under way, those that come next, and how long they take. */
import type { WireCheckIn } from '../../api/wire.ts';
import type { WireRun } from '../../api/wire-explanation.ts';
import { compactDuration, durationInWords, runDuration, SECOND } from '../../text/durations.ts';
import { wallMinute, weekdayTime } from '../../text/times.ts';
import type { SnitchDetail } from './state.ts';

/** As fields with their labels; none if nothing is known. */
export function runFields(detail: SnitchDetail | null, now: number): [string, string][] {
  if (!detail) return [];
  const { checkIns, explanation } = detail;
  const fields: [string, string][] = [];
  // A server that reports what is under way knows it better than the few check-ins that were read here.
  const since = explanation.runs === undefined ? openSince(checkIns) : null;
  if (since !== null) fields.push(['Running', runningWords(since, checkIns, explanation.timezone, now)]);
  const { runs = [], timezone = 'UTC' } = explanation.schedule ?? {};
  runs.forEach((run, index) => {
    fields.push([index === 0 ? 'Next runs' : '', runText(run, timezone)]);
  });
  if (explanation.schedule && runs.length === 0) fields.push(['Next runs', 'none: it is not due again']);
  return fields;
}

/** When the newest run began, if none has ended since; null if none is under way. @param checkIns newest first */
export function openSince(checkIns: readonly Pick<WireCheckIn, 'at' | 'outcome'>[]): number | null {
  const newest = checkIns.find(({ outcome }) => outcome !== 'log');
  return newest?.outcome === 'start' ? Date.parse(newest.at) : null;
}

/** `since 2026-03-14 03:00 (8m), usually 12 min` */
function runningWords(
  since: number,
  checkIns: readonly WireCheckIn[],
  timezone: string,
  now: number,
): string {
  const usual = medianOf(durationsOf(checkIns));
  const length = (ms: number) => (ms < SECOND ? runDuration(ms) : durationInWords(ms));
  const usually = usual === null ? '' : `, usually ${length(usual)}`;
  return `since ${wallMinute(since, timezone)} (${compactDuration(Math.max(0, now - since))})${usually}`;
}

/** How long the known runs took, newest first, in milliseconds. */
export function durationsOf(checkIns: readonly Pick<WireCheckIn, 'duration_ms'>[]): number[] {
  return checkIns.map(({ duration_ms }) => duration_ms).filter((duration) => duration !== null);
}

export function medianOf(values: readonly number[]): number | null {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

/** `Mon 2026-03-09 13:00 +01:00 by 13:10` */
export function runText({ at, deadline }: WireRun, timezone: string): string {
  const run = localTime(at, timezone);
  const end = localTime(deadline, timezone);
  const [weekday, date, time, offset] = end.split(' ');
  const isSameDay = run.startsWith(`${weekday} ${date} `) && run.endsWith(` ${offset}`);
  return `${run} by ${isSameDay ? time : end}`;
}

/** A zone that this program does not know shows its times in UTC, and their offset says so. */
function localTime(iso: string, timezone: string): string {
  try {
    return weekdayTime(Date.parse(iso), timezone);
  } catch {
    return weekdayTime(Date.parse(iso), 'UTC');
  }
}
