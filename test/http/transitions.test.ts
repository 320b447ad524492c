/** `decisions: Transitions` and `Periods and deadlines`, row by row, as a client sees them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { empty, ok } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, START, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('transitions');
test.before.each(hooks.start);
test.after.each(hooks.close);

type Step = (context: Fixture, snitch: WireSnitch) => Promise<void>;

const healthy: Step = (context, { token }) => checkIn(context, token);
const error: Step = (context, { token }) => checkIn(context, token, '?s=1');
const start: Step = (context, { token }) => checkIn(context, token, '/start');
const log: Step = (context, { token }) => checkIn(context, token, '/log');
const pause =
  (until?: string): Step =>
  async ({ acme }, { href }) =>
    empty(await acme.write.post(`${href}/pause`, until === undefined ? {} : { until }));
const unpause: Step = async ({ acme }, { href }) => empty(await acme.write.post(`${href}/unpause`));
const change: Step = async ({ acme }, { href }) => {
  ok(await acme.write.patch(href, { name: 'other', notes: 'n', tags: ['t'] }));
  ok(await acme.write.post(`${href}/tags`, ['u']));
  ok(await acme.write.delete(`${href}/tags/t`));
};
const later =
  (milliseconds: number): Step =>
  async (context) => {
    context.clock.now += milliseconds;
    await sweep(context);
  };
/** Past every deadline of an hourly snitch that is met now. */
const silence = later(2 * HOUR);
const SOON = new Date(START + 10 * MINUTE).toISOString();

const STATES: Record<string, Step[]> = {
  pending: [],
  healthy: [healthy],
  errored: [error],
  failed: [healthy, silence],
  'paused until healthy': [healthy, pause()],
  'paused until unpaused': [healthy, pause('unpaused')],
  'paused until a time': [healthy, pause(SOON)],
};

/** From, trigger, status, and the alerts that it raises: type, new and previous status as webhooks name them. */
const ROWS: [string, Step[], string, string[]][] = [
  ['pending', [healthy], 'healthy', ['reporting healthy pending']],
  ['failed', [healthy], 'healthy', ['reporting healthy missing']],
  ['errored', [healthy], 'healthy', ['reporting healthy errored']],
  ['healthy', [healthy], 'healthy', []],
  ['pending', [error], 'errored', ['errored errored pending']],
  ['healthy', [error], 'errored', ['errored errored healthy']],
  ['failed', [error], 'errored', ['errored errored missing']],
  ['errored', [error], 'errored', []],
  ['pending', [silence], 'pending', []],
  ['healthy', [silence], 'failed', ['missing missing healthy']],
  ['errored', [silence], 'failed', ['missing missing errored']],
  ['failed', [later(2 * HOUR)], 'failed', ['missing missing missing']],
  ['healthy', [pause()], 'paused', ['paused paused healthy']],
  ['failed', [pause()], 'paused', ['paused paused missing']],
  ['errored', [pause()], 'paused', ['paused paused errored']],
  ['paused until healthy', [pause('unpaused'), pause(SOON), pause()], 'paused', []],
  ['paused until healthy', [healthy], 'healthy', ['reporting healthy paused']],
  ['paused until unpaused', [healthy], 'paused', []],
  ['paused until a time', [error], 'paused', []],
  ['paused until healthy', [error], 'paused', []],
  ['paused until healthy', [error, unpause], 'errored', []],
  ['paused until unpaused', [error, unpause], 'errored', []],
  ['paused until unpaused', [error, healthy, unpause], 'healthy', []],
  ['paused until a time', [error, later(11 * MINUTE)], 'errored', []],
  ['paused until a time', [later(11 * MINUTE)], 'healthy', []],
  ['paused until healthy', [unpause], 'healthy', []],
  ['paused until healthy', [later(40 * HOUR)], 'paused', []],
  ['paused until unpaused', [later(40 * HOUR), unpause, later(HOUR)], 'healthy', []],
  ['paused until unpaused', [later(40 * HOUR), unpause, silence], 'failed', ['missing missing healthy']],
];

/** What changes no state, whatever it is. */
const STILL: Step[] = [start, log, change];

async function alerts({ acme }: Fixture, { href }: WireSnitch): Promise<string[]> {
  const listed = ok<WireAlert[]>(await acme.read.get(`${href}/alerts`));
  return listed
    .map(({ type, snitch }) => `${type.replace('snitch.', '')} ${snitch?.status} ${snitch?.previous_status}`)
    .reverse();
}

async function become(context: Fixture, from: string): Promise<WireSnitch> {
  context.clock.now = START;
  const snitch = await newSnitch(context.acme);
  for (const step of STATES[from] ?? []) await step(context, snitch);
  assert.is((await snitchNow(context.acme, snitch.token)).status, from.split(' ')[0]);
  return snitch;
}

test('every row of the table: the status that follows and the alert that is told', async (context) => {
  for (const [index, [from, steps, to, expected]] of ROWS.entries()) {
    const snitch = await become(context, from);
    const before = await alerts(context, snitch);
    for (const step of steps) {
      context.clock.now += 1;
      await step(context, snitch);
    }
    assert.is((await snitchNow(context.acme, snitch.token)).status, to, `row ${index} from ${from}`);
    assert.equal((await alerts(context, snitch)).slice(before.length), expected, `row ${index} from ${from}`);
    empty(await context.acme.write.delete(snitch.href));
  }
});

test('a start, a log line, a change of its texts and an unpause of what is not paused change no status', async (context) => {
  for (const from of Object.keys(STATES)) {
    const snitch = await become(context, from);
    const before = await alerts(context, snitch);
    for (const step of from.startsWith('paused') ? STILL : [...STILL, unpause]) {
      await step(context, snitch);
      assert.is((await snitchNow(context.acme, snitch.token)).status, from.split(' ')[0]);
    }
    assert.equal(await alerts(context, snitch), before);
    empty(await context.acme.write.delete(snitch.href));
  }
});

async function deadline({ acme }: Fixture, { href }: WireSnitch): Promise<string | undefined> {
  return ok<WireExplanation>(await acme.read.get(`${href}/explain`)).deadline?.at;
}

const at = (time: string) => Date.parse(`2026-11-${time}Z`);

/** An interval, when the job checked in, and when it is missing if nothing follows; in UTC. A Wednesday is the 18th. */
const DEADLINES: [string, string, string][] = [
  ['1_minute', '18T10:59:59.999', '18T11:01:00'],
  ['15_minute', '18T10:59', '18T11:15:00'],
  ['15_minute', '18T11:00', '18T11:30:00'],
  ['30_minute', '18T10:31', '18T11:30:00'],
  ['hourly', '18T10:59', '18T12:00:00'],
  ['hourly', '18T11:01', '18T13:00:00'],
  ['4_hour', '18T03:59', '18T08:00:00'],
  ['8_hour', '18T17:00', '19T08:00:00'],
  ['daily', '18T00:00', '20T00:00:00'],
  ['daily', '18T23:59', '20T00:00:00'],
  ['weekly', '18T10:00', '30T00:00:00'],
  ['weekly', '16T00:00', '30T00:00:00'],
];

test('the next check-in is due by the end of the following period, for an error check-in too', async (context) => {
  for (const [interval, checkedInAt, due] of DEADLINES) {
    for (const [step, status] of [
      [healthy, 'healthy'],
      [error, 'errored'],
    ] as const) {
      const snitch = await newSnitch(context.acme, { interval });
      context.clock.now = at(checkedInAt);
      await step(context, snitch);
      assert.is(
        await deadline(context, snitch),
        new Date(at(due)).toISOString(),
        `${interval} ${checkedInAt}`,
      );
      context.clock.now = at(due) - 1;
      await sweep(context);
      assert.is((await snitchNow(context.acme, snitch.token)).status, status);
      context.clock.now = at(due);
      await sweep(context);
      assert.is((await snitchNow(context.acme, snitch.token)).status, 'failed');
      empty(await context.acme.write.delete(snitch.href));
    }
  }
});

test('a changed interval, alert type or time zone restarts the deadline from now', async (context) => {
  const { acme } = context;
  const snitch = await newSnitch(acme, { interval: 'daily' });
  await healthy(context, snitch);
  context.clock.now = at('18T20:30');
  ok(await acme.write.patch(snitch.href, { interval: 'hourly' }));
  assert.is(await deadline(context, snitch), '2026-11-18T22:00:00.000Z');
  context.clock.now = at('18T21:30');
  ok(await acme.write.patch(snitch.href, { alert_type: 'smart' }));
  assert.is(await deadline(context, snitch), '2026-11-18T23:00:00.000Z', 'too little is known yet');
  ok(await acme.write.patch(snitch.href, { type: { interval: 'daily' }, alert_type: 'basic' }));
  ok(await acme.write.patch('/v1/case', { timezone: 'Asia/Kolkata' }));
  assert.is(await deadline(context, snitch), '2026-11-20T18:30:00.000Z');
});

test('a failed snitch is reminded once per missed period, never more than once an hour, as the case wants it', async (context) => {
  const { acme, clock } = context;
  const expected: [string, number][] = [
    ['period', 6],
    ['hourly', 6],
    ['daily', 1],
    ['off', 0],
  ];
  for (const [reminders, count] of expected) {
    ok(await acme.write.patch('/v1/case', { reminders }));
    clock.now = START;
    const snitch = await newSnitch(acme, { interval: '30_minute' });
    await healthy(context, snitch);
    clock.now = at('18T11:00');
    await sweep(context);
    const before = await alerts(context, snitch);
    const hours = reminders === 'daily' ? 24 : 6;
    for (let step = 0; step < hours * 12; step += 1) await later(5 * MINUTE)(context, snitch);
    const reminded = (await alerts(context, snitch)).slice(before.length);
    assert.equal(reminded, Array(count).fill('missing missing missing'), reminders);
    empty(await acme.write.delete(snitch.href));
  }
});

test.run();
