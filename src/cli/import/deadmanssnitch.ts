/** Imports the snitches of the hosted service, which has the same API as this program. */
import { INTERVALS } from '../../api/intervals.ts';
import { ask, type Fields, type Imported, isToken, objectsIn, type Source, textOf } from './source.ts';

export const DEADMANSSNITCH = 'https://api.deadmanssnitch.com';

export async function readDeadMansSnitch(source: Source): Promise<Imported[]> {
  return objectsIn(await ask(source, '/v1/snitches', null), source.url).map(importedOf);
}

export function importedOf(snitch: Fields): Imported {
  const remarks: string[] = [];
  const token = textOf(snitch.token);
  if (!isToken(token)) remarks.push('its token cannot be kept: the job needs the new one');
  if (snitch.status === 'paused')
    remarks.push('it is paused there, and will wait for its first check-in here');
  const name = textOf(snitch.name);
  const interval = textOf(snitch.interval) || textOf((snitch.type as Fields | undefined)?.interval);
  const known = (INTERVALS as readonly string[]).includes(interval);
  return {
    input: {
      name,
      interval,
      alert_type: snitch.alert_type === 'smart' ? 'smart' : 'basic',
      alert_email: listOf(snitch.alert_email),
      notes: textOf(snitch.notes),
      tags: listOf(snitch.tags),
      token: isToken(token) ? token : null,
    },
    remarks,
    refusal: known ? null : `its interval "${interval}" is none that there is`,
  };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
