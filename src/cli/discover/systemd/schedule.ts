/** Works out how often a timer of systemd elapses. */
import { parseCalendar, parseSpan } from '../../schedule/calendar.ts';
import { intervalForGap, longestGap, NotUnderstood, staysInPeriod } from '../../schedule/schedule.ts';
import { lastValue, type Setting, valuesOf } from './units.ts';

/** Settings that make a timer elapse again and again, counted from the last run. */
export const REPEATING = ['OnUnitActiveSec', 'OnUnitInactiveSec'];

export interface TimerSchedule {
  /** The longest time between two starts, in minutes. */
  gap: number;
  /** The schedule as it is written in the unit. */
  text: string;
}

/** @throws NotUnderstood with the reason why its runs cannot be predicted */
export function scheduleOfTimer(settings: readonly Setting[]): TimerSchedule {
  const calendars = valuesOf(settings, 'Timer', 'OnCalendar');
  const spans = REPEATING.flatMap((name) =>
    valuesOf(settings, 'Timer', name).map((value) => ({ name, value, minutes: parseSpan(value) })),
  );
  const delay = parseSpan(lastValue(settings, 'Timer', 'RandomizedDelaySec') ?? '0');
  const gaps = spans.map(({ minutes }) => minutes + delay);
  const byCalendar = calendars.length > 0 ? calendarGap(calendars, delay) : null;
  if (byCalendar !== null) gaps.push(byCalendar);
  if (gaps.length === 0) {
    throw new NotUnderstood(
      calendars.length > 0 ? 'it runs only once' : 'it runs only after boot, at no known time',
    );
  }
  const text = [
    ...calendars.map((value) => `OnCalendar=${value}`),
    ...spans.map(({ name, value }) => `${name}=${value}`),
  ];
  return { gap: Math.min(...gaps), text: text.join(', ') };
}

/** A random delay makes the gap longer, unless every period of the interval still has its run. */
function calendarGap(calendars: readonly string[], delay: number): number | null {
  const schedules = calendars.map(parseCalendar);
  const gap = longestGap(schedules);
  const interval = gap === null ? null : intervalForGap(gap);
  if (gap === null || interval === null || staysInPeriod(schedules, interval, delay)) return gap;
  return intervalForGap(gap + delay) === null ? gap : gap + delay;
}
