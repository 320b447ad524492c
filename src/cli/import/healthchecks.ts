/**
 * Imports the checks of Healthchecks, hosted or self-hosted, through version 3 of its API. Timeouts, schedules and grace
 * mean the same there; if a job reports its starts, the grace is also how long it may take. Several schedules in one
 * check become one that says the same, or the longest time between runs.
 */
import type { WireSchedule } from '../../api/wire.ts';
import { LONGEST_RUNTIME } from '../../core/run-fields.ts';
import { isTimeZone } from '../../text/time-zone.ts';
import { parseCalendar } from '../schedule/calendar.ts';
import { parseCronSchedule } from '../schedule/cron.ts';
import { gapInWords, intervalForGap, longestGap, NotUnderstood } from '../schedule/schedule.ts';
import { type Joined, joinCalendars, joinSchedules } from '../schedule/several.ts';
import type { DueInput } from '../snitches/due-flags.ts';
import type { RunInput } from '../snitches/run-flags.ts';
import { ask, type Fields, type Imported, isToken, objectsIn, type Source, textOf } from './source.ts';

export const HEALTHCHECKS = 'https://healthchecks.io';

export async function readHealthchecks(source: Source): Promise<Imported[]> {
  const answer = await ask(source, '/api/v3/checks/', 'x-api-key');
  return objectsIn((answer as Fields | null)?.checks, source.url).map((check) => importedOf(check));
}

/** @param now milliseconds since the epoch */
export function importedOf(check: Fields, now = Date.now()): Imported {
  const { due, remark: ofDue } = dueOf(check, now);
  const remarks = [...(ofDue === null ? [] : [ofDue]), ...remarksOn(check, due !== null)];
  const token = tokenOf(check);
  if (token === null) remarks.push('its address is hidden from this key: the job needs the new one');
  const identity = token ?? textOf(check.unique_key);
  const name = textOf(check.name).trim() || textOf(check.slug) || `check ${identity.slice(0, 8)}`;
  const input = {
    name,
    tags: textOf(check.tags).split(/\s+/).filter(Boolean),
    notes: textOf(check.desc),
    token,
    ...runtimeOf(check),
  };
  if (due !== null) return { input: { ...input, ...due }, remarks, refusal: null };
  try {
    const { interval, remark } = intervalOf(check);
    if (remark !== null) remarks.unshift(remark);
    return { input: { ...input, interval }, remarks, refusal: null };
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    return { input, remarks, refusal: error.message };
  }
}

interface Kept {
  /** Null if no single schedule says the same. */
  due: DueInput | null;
  remark: string | null;
}

/** The server that receives the import checks the expression. */
function dueOf({ schedule, timeout, tz, grace }: Fields, now: number): Kept {
  const text = textOf(schedule).trim();
  const kept = typeof grace === 'number' && grace >= 0 ? { grace } : {};
  if (text === '') {
    const isLongEnough = typeof timeout === 'number' && timeout >= SHORTEST_S;
    return { due: isLongEnough ? { schedule: { every: timeout }, ...kept } : null, remark: null };
  }
  const timezone = textOf(tz) || 'UTC';
  const lines = text.split('\n').map((line) => line.trim());
  const all = lines.filter((line) => line !== '');
  if (all.length === 1) return { due: { schedule: ruleOf(text), timezone, ...kept }, remark: null };
  try {
    const { rule, remark } = joined(all, timezone, now);
    const zone = 'every' in rule ? {} : { timezone };
    return { due: { schedule: rule, ...zone, ...kept }, remark };
  } catch (error) {
    if (error instanceof NotUnderstood) return { due: null, remark: null };
    throw error;
  }
}

function ruleOf(text: string): WireSchedule {
  return isCron(text) ? { cron: text } : { calendar: text };
}

function joined(lines: readonly string[], timezone: string, now: number): Joined {
  if (!isTimeZone(timezone)) throw new NotUnderstood(`${timezone} is not a time zone that is known here`);
  if (lines.some(isCron)) return joinSchedules(lines.map(ruleOf), timezone, now);
  return joinCalendars(lines, timezone, now);
}

/** Only a check whose job reports its starts knows how long the job took, or that it is running now. */
function runtimeOf({ grace, last_duration: took, started }: Fields): RunInput {
  const isStarted = typeof took === 'number' || started === true;
  const isLimit =
    typeof grace === 'number' && Number.isInteger(grace) && grace >= 1 && grace <= LONGEST_RUNTIME;
  return isStarted && isLimit ? { max_runtime: grace } : {};
}

/** Shorter timeouts become an interval. */
const SHORTEST_S = 60;

/** Five fields, or a word such as `@daily`, are a cron schedule; anything else is a systemd calendar expression. */
function isCron(text: string): boolean {
  return /^(?:\S+\s+){4}\S+$/.test(text) || text.startsWith('@');
}

/** The last part of the address that the job calls. */
function tokenOf({ uuid, ping_url }: Fields): string | null {
  const token = textOf(uuid) || (textOf(ping_url).split('/').at(-1) ?? '');
  return isToken(token) ? token : null;
}

function intervalOf(check: Fields): { interval: string; remark: string | null } {
  const schedule = textOf(check.schedule).trim();
  const { gap, words } = schedule === '' ? gapOfTimeout(check.timeout) : gapOfSchedule(schedule);
  const interval = intervalForGap(gap);
  if (interval === null) throw new NotUnderstood(`${words}: the longest interval is monthly`);
  const exact = interval !== 'monthly' && intervalForGap(gap + 0.01) !== interval;
  if (schedule === '') return { interval, remark: exact ? null : `${words} becomes ${interval}` };
  const zone = textOf(check.tz) || 'UTC';
  return {
    interval,
    remark: `the schedule ${schedule} (${zone}) becomes ${interval}, in the case's time zone`,
  };
}

function gapOfTimeout(timeout: unknown): { gap: number; words: string } {
  if (typeof timeout !== 'number' || timeout <= 0)
    throw new NotUnderstood('it has neither timeout nor schedule');
  const gap = timeout / 60;
  return { gap, words: `every ${gap < 1 ? `${timeout}s` : gapInWords(gap)}` };
}

/** @param text one schedule a line */
function gapOfSchedule(text: string): { gap: number; words: string } {
  const schedules = text.split('\n').map((line) => {
    return isCron(line.trim()) ? parseCronSchedule(line.trim()) : parseCalendar(line);
  });
  const gap = longestGap(schedules);
  if (gap === null) throw new NotUnderstood(`the schedule ${text} never runs twice`);
  return { gap, words: `the schedule ${text}` };
}

const FILTERS = ['start_kw', 'success_kw', 'failure_kw'];

/** Names what a check has and a snitch does not have. */
function remarksOn(check: Fields, keepsGrace: boolean): string[] {
  const remarks: string[] = [];
  if (!keepsGrace && typeof check.grace === 'number' && check.grace > 0) {
    remarks.push(
      `a grace time of ${graceInWords(check.grace)}: a snitch has until the end of its next period`,
    );
  }
  if (textOf(check.channels) !== '')
    remarks.push('integrations: see `snitch webhook add` and `snitch member add`');
  if (textOf(check.methods) !== '')
    remarks.push(`only ${textOf(check.methods)} counts there: here every method does`);
  const filters = FILTERS.some((name) => textOf(check[name]) !== '');
  if (
    filters ||
    check.filter_subject === true ||
    check.filter_body === true ||
    check.filter_http_body === true
  ) {
    remarks.push('filters on keywords: here the exit status shows how the job went');
  }
  if (check.manual_resume === true) remarks.push('manual resume: see `snitch pause --until unpaused`');
  if (check.status === 'paused')
    remarks.push('it is paused there, and will wait for its first check-in here');
  return remarks;
}

function graceInWords(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : gapInWords(seconds / 60);
}
