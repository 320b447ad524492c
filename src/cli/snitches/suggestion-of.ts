/** What the kept check-ins of a snitch suggest, and what it is set to now. */
import type { Client } from '../../api/client.ts';
import type { WireCheckIn, WireSnitch } from '../../api/wire.ts';
import { isInterval } from '../../core/interval.ts';
import { ScheduleRefused } from '../../core/schedule/refused.ts';
import { readSchedule, type ScheduleRule } from '../../core/schedule/schedule.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import type { PastCheckIn } from '../../core/suggestion/history.ts';
import type { DueSetting } from '../../core/suggestion/outlook.ts';
import { type Suggestion, suggest } from '../../core/suggestion/suggest.ts';
import { durationInWords, SECOND } from '../../text/durations.ts';

/** More check-ins than are kept for any snitch, so this returns all. */
const ALL_KEPT = 1_000;

export interface Suggested {
  snitch: WireSnitch;
  suggestion: Suggestion;
}

/** @param timezone that of the case */
export async function suggestOne(client: Client, snitch: WireSnitch, timezone: string): Promise<Suggested> {
  const history = await client.listCheckIns(snitch.token, { limit: ALL_KEPT });
  const ofHost = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const present = settingOf(snitch, timezone);
  const zones = [...new Set([present.timezone, timezone, ofHost])];
  return { snitch, suggestion: suggest(history.map(pastOf), present, zones) };
}

function pastOf({ at, outcome, duration_ms: durationMs, values }: WireCheckIn): PastCheckIn {
  return { at: Date.parse(at), outcome, durationMs, ...(values ? { values } : {}) };
}

/**
 * An interval that only a newer server knows is treated as the most patient one, and a schedule that cannot be read is
 * replaced by the interval that comes with it.
 */
export function settingOf(snitch: WireSnitch, ofCase: string): DueSetting {
  const { interval, alert_type: alertType, timezone, grace } = snitch;
  const schedule = readable(snitch, timezone ?? ofCase);
  return {
    interval: isInterval(interval) ? interval : 'monthly',
    alertType,
    schedule,
    // Without a schedule, periods are those of the case.
    timezone: schedule ? (timezone ?? ofCase) : ofCase,
    grace: grace === null || grace === undefined ? null : grace * SECOND,
  };
}

function readable({ schedule }: WireSnitch, timezone: string): ScheduleRule | null {
  if (!schedule) return null;
  try {
    readSchedule(schedule, timezone);
    return schedule;
  } catch (error) {
    if (error instanceof ScheduleRefused) return null;
    throw error;
  }
}

/** `daily, smart`; `cron 0 3 * * * (Europe/Berlin), grace 10 min` */
export function settingWords(
  { schedule, timezone, interval, alert_type: alertType, grace }: WireSnitch,
  ofCase: string,
): string {
  const due = schedule ? scheduleWithZone(schedule, timezone, ofCase) : `${interval}, ${alertType}`;
  return grace === null || grace === undefined ? due : `${due}, grace ${durationInWords(grace * SECOND)}`;
}
