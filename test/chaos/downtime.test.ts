/**
 * The service was blind: stopped, asleep, or its clock was changed. There is no false alarm, and no alert comes twice.
 * Time limit: 180 s. Also on PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireApiKey, WireCase, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { type Mailbox, startMailbox } from '../end-to-end/mailbox.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../end-to-end/webhook-receiver.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { inParallel } from './crashing-daemon.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';

const MINUTE = 60_000;
const DAY = '2026-03-10T';

/** How long the daemon must go on sweeping before "nothing happened" counts, in milliseconds. */
const SOME_SWEEPS = 2_200;

/** What holds for ten holds for a hundred, and creating them takes long if each is a transaction over the network. */
const SNITCHES = ON_POSTGRES ? [12, 8] : [60, 40];

interface Team {
  member: string;
  key: string;
  tokens: string[];
  /** When the first and the last of them checked in, in milliseconds since the epoch. */
  checkedIn: [number, number];
}

interface Context {
  daemon: LocalDaemon;
  mailbox: Mailbox;
  receiver: WebhookReceiver;
}

const test = suite<Context>('blind times');

test.before.each(async (context) => {
  context.mailbox = await startMailbox();
  context.receiver = await startWebhookReceiver();
  const clock = new MovableClock(`${DAY}10:30:00Z`);
  context.daemon = new LocalDaemon(clock, { SMTP_URL: context.mailbox.url });
  await context.daemon.start();
});

test.after.each(async ({ daemon, mailbox, receiver }) => {
  await daemon.dispose();
  await mailbox.stop();
  await receiver.stop();
});

/** A new case with snitches that have just checked in; its webhook is added afterwards. */
async function createTeam(
  { daemon, receiver }: Context,
  name: string,
  snitches: number,
  interval = '15_minute',
): Promise<Team> {
  const { admin_key: admin } = daemon.keys;
  const { id } = await daemon.call<WireCase>('POST', '/v1/cases', { name, reminders: 'off' }, admin);
  const made = await daemon.call<WireApiKey>('POST', `/v1/cases/${id}/api_keys`, { name: 'test' }, admin);
  const key = made.key ?? '';
  const names = Array.from({ length: snitches }, (_, index) => `${name} ${index}`);
  const since = daemon.clock.now();
  const tokens = await inParallel(names, async (job) => {
    const wanted = { name: job, interval };
    const { token } = await daemon.call<WireSnitch>('POST', '/v1/snitches', wanted, key);
    assert.is(await daemon.checkIn(token), 202);
    return token;
  });
  const checkedIn: Team['checkedIn'] = [since, daemon.clock.now()];
  // This test is not about the alerts for first reports.
  const member = `${name}@example.com`;
  await daemon.call('PATCH', '/v1/case', { members: [member] }, key);
  await daemon.call('POST', '/v1/webhooks', { url: receiver.url }, key);
  return { member, key, tokens, checkedIn };
}

function alertsOf({ daemon }: Context, { key }: Team, type: string): Promise<WireAlert[]> {
  return daemon
    .call<WireAlert[]>('GET', '/v1/alerts?limit=1000', undefined, key)
    .then((alerts) => alerts.filter((alert) => alert.type === type));
}

function mailsTo({ mailbox }: Context, { member }: Team): string[] {
  return mailbox.mails.filter(({ recipients }) => recipients.includes(member)).map(({ subject }) => subject);
}

async function tryInVain(daemon: LocalDaemon, tokens: readonly string[]): Promise<void> {
  const answers = await inParallel(tokens, (token) => daemon.checkIn(token));
  assert.ok(
    answers.every((answer) => answer === null),
    'while the daemon is down nobody answers',
  );
}

async function assertOneNotice(context: Context, team: Team): Promise<void> {
  await until(() => mailsTo(context, team).length > 0, `${team.member} is told of the blind window`);
  const notices = await alertsOf(context, team, 'service.blind');
  assert.is(notices.length, 1, 'one notice per case');
  assert.is(notices[0]?.notice?.postponed_count, team.tokens.length);
  assert.equal(
    notices[0]?.deliveries.map(({ target }) => target),
    [team.member],
  );
}

async function assertNobodyIsAccused(context: Context, teams: readonly Team[]): Promise<void> {
  await sleep(SOME_SWEEPS);
  for (const team of teams) assert.equal(await alertsOf(context, team, 'snitch.missing'), []);
  assert.equal(
    context.receiver.posts.map(({ body }) => body.type),
    [],
  );
}

/** Asserts alarms of exactly these snitches, each decided within seconds after `deadline` and sent once. */
async function assertAlarms(context: Context, team: Team, missing: readonly string[], deadline: string) {
  const accused = () => context.receiver.posts.filter(({ body }) => missing.includes(body.data.snitch.token));
  await until(() => accused().length >= missing.length, 'the real misses are alarmed', 30_000);
  await sleep(SOME_SWEEPS);
  const alarms = await alertsOf(context, team, 'snitch.missing');
  assert.equal(alarms.map(({ snitch }) => snitch?.token).sort(), [...missing].sort());
  for (const { timestamp } of alarms) {
    const late = Date.parse(timestamp) - Date.parse(deadline);
    assert.ok(late >= 0 && late < MINUTE, `${timestamp} is not shortly after ${deadline}`);
  }
  assert.is(accused().length, missing.length, 'each is told once');
}

/** They checked in at 10:30, are expected at 10:45, and late from 11:00. */
async function twoTeams(context: Context): Promise<[Team, Team]> {
  const [backups = 0, reports = 0] = SNITCHES;
  return [await createTeam(context, 'backups', backups), await createTeam(context, 'reports', reports)];
}

/** Half of each team reports after the blind window; the other half has really failed. */
async function halfReport({ daemon }: Context, teams: readonly Team[]): Promise<void> {
  for (const { tokens } of teams) {
    const answers = await inParallel(tokens.slice(tokens.length / 2), (token) => daemon.checkIn(token));
    assert.ok(answers.every((answer) => answer === 202));
  }
}

/**
 * Lets the daemon live through the time in which they are awaited so many milliseconds after they checked in; what lies
 * before is passed over.
 */
async function liveThrough({ daemon }: Context, teams: readonly Team[], after: number): Promise<void> {
  const around = MINUTE + 3_000;
  const first = Math.min(...teams.map(({ checkedIn }) => checkedIn[0])) + after - around;
  const last = Math.max(...teams.map(({ checkedIn }) => checkedIn[1])) + after + around;
  await daemon.clock.move(first - daemon.clock.now());
  await daemon.liveOn(last - first);
}

/** A job that could not be heard is awaited again in the first period that the service hears as a whole. */
async function expectRealMissesLater(context: Context, teams: readonly Team[]): Promise<void> {
  await halfReport(context, teams);
  await liveThrough(context, teams, 60 * MINUTE);
  await context.daemon.clock.set(`${DAY}11:44:57Z`);
  for (const team of teams) {
    await assertAlarms(context, team, team.tokens.slice(0, team.tokens.length / 2), `${DAY}11:45:00Z`);
    const told = (await alertsOf(context, team, 'service.blind')).filter(({ notice }) =>
      notice?.to.startsWith(`${DAY}11:25`),
    );
    assert.is(told.length, 1, 'the notice is not repeated');
  }
}

test('stopped across the deadlines of two teams: one notice per case, real misses in the next whole period', async (context) => {
  const { daemon } = context;
  const teams = await twoTeams(context);
  await daemon.clock.set(`${DAY}10:40:00Z`);
  await sleep(SOME_SWEEPS);
  assert.is(context.mailbox.mails.length, 0, 'nobody was expected in the time before');
  await daemon.stop();
  await daemon.clock.set(`${DAY}10:45:00Z`);
  for (const { tokens } of teams) await tryInVain(daemon, tokens);
  await daemon.clock.set(`${DAY}11:25:00Z`);
  await daemon.start();
  for (const team of teams) await assertOneNotice(context, team);
  await assertNobodyIsAccused(context, teams);
  await expectRealMissesLater(context, teams);
});

test('asleep across the deadlines: the same as stopped', async (context) => {
  const teams = await twoTeams(context);
  await context.daemon.clock.set(`${DAY}11:25:00Z`);
  for (const team of teams) await assertOneNotice(context, team);
  await assertNobodyIsAccused(context, teams);
});

test('a clock that is set back moves no deadline, repeats no alarm, and times that are too far ahead are corrected', async (context) => {
  const { daemon } = context;
  const team = await createTeam(context, 'backups', 10);
  const [late, ...others] = team.tokens as [string, ...string[]];
  await liveThrough(context, [team], 15 * MINUTE);
  await inParallel(others, (token) => daemon.checkIn(token));
  await daemon.clock.set(`${DAY}10:59:57Z`);
  await assertAlarms(context, team, [late], `${DAY}11:00:00Z`);
  const told = context.mailbox.mails.length;
  const deadlineOf = async (token = '') => {
    const path = `/v1/snitches/${token}/explain`;
    const { deadline } = await daemon.call<WireExplanation>('GET', path, undefined, team.key);
    return deadline?.at;
  };
  for (const [time, due] of [
    ['10:50:00', '11:15:00'],
    ['08:00:00', '08:30:00'],
  ]) {
    await daemon.clock.set(`${DAY}${time}Z`);
    await sleep(SOME_SWEEPS);
    assert.is(await deadlineOf(others[0]), `${DAY}${due}.000Z`);
  }
  assert.is((await alertsOf(context, team, 'snitch.missing')).length, 1, 'the alarm is not repeated');
  assert.is(context.mailbox.mails.length, told, 'nobody is told');
  assert.is((await daemon.readiness()).status, 200);
});

test('a restart of a few seconds tells nobody', async (context) => {
  const { daemon } = context;
  await daemon.clock.set(`${DAY}10:30:50Z`);
  await sleep(SOME_SWEEPS);
  const team = await createTeam(context, 'backups', 10, '1_minute');
  await daemon.liveOn(Date.parse(`${DAY}10:31:30Z`) - daemon.clock.now());
  await daemon.stop();
  await tryInVain(daemon, team.tokens);
  await daemon.clock.move(40_000);
  assert.ok(daemon.clock.now() > Date.parse(`${DAY}10:32:00Z`), 'the deadline has passed');
  await daemon.start();
  await assertNobodyIsAccused(context, [team]);
  assert.equal(mailsTo(context, team), []);
  const [notice, ...more] = await alertsOf(context, team, 'service.blind');
  assert.equal([notice?.deliveries, more], [[], []], 'it is only listed');
});

test.run();
