/** Gives an empty store a past, in which every job of the fleet has run, missed periods and failed until now. */
import { randomUUID } from 'node:crypto';
import { SERVER_ITSELF } from '../core/activity/activity.ts';
import type { CheckIn } from '../core/check-in.ts';
import { Calendar, type Period } from '../core/interval.ts';
import type { Store } from '../store/store.ts';
import { DAY, MINUTE } from '../text/durations.ts';
import { type DemoJob, FLEET } from './fleet.ts';

export interface RunningJob {
  job: DemoJob;
  token: string;
}

/** How many periods of each job have check-ins, and how far back they go at most. */
const MOST_PERIODS = 50;
const FURTHEST = 120 * DAY;

export const TIMEZONE = 'UTC';

/** Who made and paused the snitches of the fleet. */
const OPERATOR = { keyId: null, name: 'ops-key' };

/** Whoever is looking into what is wrong now. */
const COLLEAGUE = { keyId: null, name: 'ann' };

/** How many calls are made at the same time. The store takes them in order. */
const AT_ONCE = 100;

/** @returns the jobs with their tokens */
export async function makePast(store: Store, now: number): Promise<RunningJob[]> {
  const began = now - FURTHEST - DAY;
  const demoCase = await store.by(SERVER_ITSELF, began).createCase(
    {
      name: 'demo',
      timezone: TIMEZONE,
      members: ['ops@example.com'],
      reminders: 'daily',
      errorNotices: true,
      maxSnitches: null,
      onHold: false,
    },
    began,
  );
  const checkIns: CheckIn[] = [];
  const jobs: RunningJob[] = [];
  const pauses: { token: string; at: number }[] = [];
  for (const job of FLEET) {
    const periods = periodsOf(job, now);
    const first = periods.at(-1)?.start ?? now;
    const made = Math.min(first, now - DAY);
    const needs = jobs.flatMap((one) => (one.job.name === job.needs ? [one.token] : []));
    const fields = { ...fieldsOf(job), needs };
    const { token } = await store.by(OPERATOR, made).createSnitch(demoCase.id, fields, made);
    jobs.push({ job, token });
    if (job.isNew) continue;
    checkIns.push(...periods.flatMap((period, ago) => runIn(job, { token, period, ago, now })));
    if (job.isPaused) pauses.push({ token, at: (periods[0]?.start ?? now) - 1 });
  }
  await live(store, checkIns);
  for (const { token, at } of pauses) {
    await store.by(OPERATOR, at).pauseSnitch(demoCase.id, token, { kind: 'unpaused' }, at);
  }
  await store.applyDue(now, null, FLEET.length);
  await settleAll(store, now);
  for (const one of jobs) await keepQuiet(store, demoCase.id, one, now);
  return jobs;
}

/** Acknowledges or silences it a quarter of an hour ago, if the job says so. */
async function keepQuiet(store: Store, caseId: string, { job, token }: RunningJob, now: number) {
  const at = now - 15 * MINUTE;
  const { name: by } = COLLEAGUE;
  const acts = store.by(COLLEAGUE, at);
  if (job.acknowledged !== undefined)
    await acts.acknowledgeSnitch(caseId, token, { note: job.acknowledged, by }, at);
  if (job.silenced === undefined) return;
  const time = { kind: 'once', from: at, to: now + 45 * MINUTE } as const;
  const silence = { scope: { kind: 'tokens', tokens: [token] } as const, time, note: job.silenced, by };
  await acts.createSilence(caseId, silence, at);
}

function fieldsOf({ name, interval, tags, notes = '', alertType = 'basic' }: DemoJob) {
  return { name, interval, tags: [...tags], notes, alertType, alertEmail: [] };
}

/** The present period and those before it, newest first. */
function periodsOf({ interval }: DemoJob, now: number): Period[] {
  const calendar = new Calendar();
  const periods: Period[] = [];
  let at = now;
  while (periods.length < MOST_PERIODS && at > now - FURTHEST) {
    const period = calendar.periodAt(interval, TIMEZONE, at);
    periods.push(period);
    at = period.start - 1;
  }
  return periods;
}

interface Run {
  token: string;
  period: Period;
  /** How many periods ago the run was. */
  ago: number;
  now: number;
}

/** The start and the end of one run, as far as they are in the past. */
function runIn(job: DemoJob, { token, period, ago, now }: Run): CheckIn[] {
  if (job.missed?.includes(ago) || (job.isPaused && ago === 0)) return [];
  const length = period.end - period.start;
  // Looks random, but is the same in every demo, so that all of them look alike.
  const chance = ((job.name.charCodeAt(0) * 31 + ago * 17) % 100) / 100;
  const takes = job.takes === undefined ? null : job.takes * (0.8 + chance * 0.5);
  const begins = period.start + length * job.at + length * 0.02 * chance;
  const ends = begins + (takes ?? 0);
  const isError = job.errors?.includes(ago) === true;
  const runId = takes === null ? null : randomUUID();
  const common = { token, source: '192.0.2.10', runId, exitStatus: null, message: null, output: null };
  const end: CheckIn = {
    ...common,
    now: Math.round(ends),
    at: Math.round(ends),
    outcome: isError ? 'error' : 'healthy',
    exitStatus: isError ? 2 : 0,
    message: (isError ? job.complaint : job.message) ?? null,
    output: isError || ago > 1 ? (job.output ?? null) : null,
  };
  const start: CheckIn = { ...common, now: Math.round(begins), at: Math.round(begins), outcome: 'start' };
  return (takes === null ? [end] : [start, end]).filter(({ at }) => at < now);
}

/** Applies the check-ins in order, with a sweep before each, so that alerts get the time at which they were due. */
async function live(store: Store, checkIns: CheckIn[]): Promise<void> {
  const inOrder = checkIns.sort((a, b) => a.at - b.at);
  for (let from = 0; from < inOrder.length; from += AT_ONCE) {
    const calls = inOrder
      .slice(from, from + AT_ONCE)
      .flatMap((checkIn) => [store.applyDue(checkIn.at, null, FLEET.length), store.applyCheckIn(checkIn)]);
    await Promise.all(calls);
  }
}

/** Settles all deliveries, because the demo never sends anything: most were delivered, some could not be. */
async function settleAll(store: Store, now: number): Promise<void> {
  for (;;) {
    const claimed = await store.claimDeliveries({
      now,
      channel: 'email',
      leaseUntil: now + DAY,
      perTarget: AT_ONCE,
      limit: AT_ONCE,
      after: '',
      busy: [],
    });
    if (claimed.length === 0) return;
    for (const { id, fence, alert } of claimed) {
      const isDead = alert.type !== 'snitch.reporting' && id % 9 === 0;
      const error = '550 5.1.1 mailbox unavailable';
      await store.settleDelivery(
        id,
        fence,
        isDead ? { kind: 'dead', error } : { kind: 'delivered', at: alert.at + 900 },
      );
    }
  }
}
