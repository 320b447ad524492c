/** Imports the snitches of the hosted service, which has the same API as this program. */
import { INTERVALS } from '../../api/intervals.ts';
import type { WireExpectation, WireSchedule } from '../../api/wire.ts';
import { runInput } from '../file/run-fields.ts';
import type { DueInput } from '../snitches/due-flags.ts';
import { ask, type Fields, type Imported, isToken, objectsIn, type Source, textOf } from './source.ts';

export const DEADMANSSNITCH = 'https://api.deadmanssnitch.com';

export async function readDeadMansSnitch(source: Source): Promise<Imported[]> {
  const snitches = objectsIn(await ask(source, '/v1/snitches', null), source.url);
  // Only a server with cases of its own has schedules.
  const caseOf = snitches.some(needsZone) ? ((await ask(source, '/v1/case', null)) as Fields | null) : null;
  return snitches.map((snitch) => importedOf(snitch, textOf(caseOf?.timezone) || null));
}

/** @param caseZone the time zone there, which schedules without one follow; null if it is not known */
function importedOf(snitch: Fields, caseZone: string | null): Imported {
  const remarks: string[] = [];
  const token = textOf(snitch.token);
  if (!isToken(token)) remarks.push('its token cannot be kept: the job needs the new one');
  if (snitch.status === 'paused')
    remarks.push('it is paused there, and will wait for its first check-in here');
  if (Array.isArray(snitch.needs) && snitch.needs.length > 0)
    remarks.push('what it needs is not brought over: see `snitch edit --needs`');
  const name = textOf(snitch.name);
  const publicName = textOf(snitch.public_name);
  const interval = textOf(snitch.interval) || textOf((snitch.type as Fields | undefined)?.interval);
  const known = (INTERVALS as readonly string[]).includes(interval);
  return {
    input: {
      name,
      ...(publicName === '' ? {} : { public_name: publicName }),
      interval,
      ...dueOf(snitch, caseZone),
      ...runOf(snitch),
      alert_type: snitch.alert_type === 'smart' ? 'smart' : 'basic',
      alert_email: listOf(snitch.alert_email),
      notes: textOf(snitch.notes),
      tags: listOf(snitch.tags),
      token: isToken(token) ? token : null,
    },
    remarks,
    refusal: known ? null : `its interval "${interval}" does not exist here`,
  };
}

/** Whether it has a schedule by the clock that follows the time zone of its case. */
function needsZone({ schedule, timezone }: Fields): boolean {
  const isByClock = typeof schedule === 'object' && schedule !== null && !('every' in schedule);
  return isByClock && typeof timezone !== 'string';
}

/**
 * What other servers of this program have in addition. The server that receives the import checks the values. Its case
 * may be in another time zone, in which the schedule would be due at other times.
 */
function dueOf(snitch: Fields, caseZone: string | null): DueInput {
  const { schedule, grace } = snitch;
  const timezone = needsZone(snitch) ? caseZone : snitch.timezone;
  return {
    ...(typeof schedule === 'object' && schedule !== null ? { schedule: schedule as WireSchedule } : {}),
    ...(typeof timezone === 'string' ? { timezone } : {}),
    ...(typeof grace === 'number' ? { grace } : {}),
  };
}

function runOf({ max_runtime, min_runtime, failures_before_alert, expect }: Fields) {
  return runInput({
    max_runtime: numberOf(max_runtime),
    min_runtime: numberOf(min_runtime),
    failures_before_alert: numberOf(failures_before_alert) ?? 1,
    expect: Array.isArray(expect) ? (expect as WireExpectation[]) : null,
  });
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
