/** A schedule in words. A file of its own, so a program that only shows schedules need not load the parser. */
import { durationInWords, SECOND } from '../text/durations.ts';
import type { ScheduleRule } from './schedule/schedule.ts';

/** `cron 0 3 * * 1-5 (Europe/Berlin)`, `every 2 h after its last check-in`; @param timezone the one that applies */
export function scheduleInWords(rule: ScheduleRule, timezone: string): string {
  if ('every' in rule) return `every ${durationInWords(rule.every * SECOND)} after its last check-in`;
  const expression = 'cron' in rule ? `cron ${rule.cron}` : `OnCalendar ${rule.calendar}`;
  return `${expression} (${timezone})`;
}

/** The same, but finding the zone that applies: the expression's own, the snitch's, or the case's. */
export function scheduleWithZone(rule: ScheduleRule, own: string | null | undefined, ofCase: string): string {
  if ('calendar' in rule && NAMED_ZONE.test(rule.calendar)) return `OnCalendar ${rule.calendar}`;
  return scheduleInWords(rule, own ?? ofCase);
}

/** At the end of an OnCalendar expression. */
const NAMED_ZONE = /\s(?:UTC|GMT|[A-Za-z_]+\/[A-Za-z_/+-]+)$/;
