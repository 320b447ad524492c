/** When a timer of systemd starts its service (`man 5 systemd.timer`). */
import type { ScheduleRule } from '../../../core/schedule/schedule.ts';
import { parseSpan } from '../../schedule/calendar.ts';
import { intervalForGap } from '../../schedule/schedule.ts';
import { type Joined, joinCalendars } from '../../schedule/several.ts';
import { type Due, NeverAwaited, scheduledDue, type Terms } from '../due/due.ts';
import type { HostClock } from '../host/clock.ts';
import { REPEATING, scheduleOfTimer } from './schedule.ts';
import { lastValue, type Setting, valuesOf } from './units.ts';

/** What systemd assumes if a timer has no `AccuracySec=`. */
const USUAL_ACCURACY = '1min';

/** @throws NotUnderstood with the reason why nobody can wait for it */
export function dueOfTimer(settings: readonly Setting[], clock: HostClock, terms: Terms): Due {
  const lateness = Math.ceil(latenessOf(settings));
  const { rule, remark } = ruleOf(settings, clock.timezone, terms.now);
  const interval = () => intervalForGap(scheduleOfTimer(settings).gap);
  const due = scheduledDue(rule, { timezone: clock.timezone, lateness, interval }, terms);
  const doubt = due.timezone === null ? null : clock.doubt;
  const remarks = [remark, doubt].filter((one) => one !== null);
  return { ...due, remarks: [...due.remarks, ...remarks] };
}

/** The settings of the timer that say when it elapses, as they are written. */
export function timerText(settings: readonly Setting[]): string {
  return ['OnCalendar', ...REPEATING]
    .flatMap((name) => valuesOf(settings, 'Timer', name).map((value) => `${name}=${value}`))
    .join(', ');
}

/** Seconds by which the timer may elapse late. `FixedRandomDelay=` stays within them, so it makes no difference. */
function latenessOf(settings: readonly Setting[]): number {
  const minutes = (name: string, otherwise: string) =>
    parseSpan(lastValue(settings, 'Timer', name) ?? otherwise);
  const random = minutes('RandomizedDelaySec', '0') + minutes('RandomizedOffsetSec', '0');
  return (random + minutes('AccuracySec', USUAL_ACCURACY)) * 60;
}

/** A timer elapses by whichever of its settings comes first. */
function ruleOf(settings: readonly Setting[], timezone: string, now: number): Joined {
  const calendars = valuesOf(settings, 'Timer', 'OnCalendar');
  const spans = REPEATING.flatMap((name) => valuesOf(settings, 'Timer', name).map(parseSpan));
  if (spans.length === 0 && calendars.length === 0) {
    throw new NeverAwaited('it runs only after boot, at no known time');
  }
  const joined = calendars.length > 0 ? joinCalendars(calendars, timezone, now) : null;
  const shortest = Math.min(...spans) * 60;
  if (joined !== null && joined.longestGap <= shortest) return joined;
  return { rule: everyRule(shortest), remark: remarkOn(shortest), longestGap: shortest };
}

function everyRule(seconds: number): ScheduleRule {
  return { every: Math.max(60, Math.ceil(seconds)) };
}

function remarkOn(seconds: number): string | null {
  return seconds < 60 ? 'it runs more often than once a minute, and is expected once a minute' : null;
}
