/** `snitch suggest --apply` sets schedules that fit better than the present ones, and nothing else. Time limit: 120 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const applying = suite<{ on: Commands }>('snitch suggest --apply');
applying.before.each(async (context) => {
  context.on = await withCase();
});
applying.after.each(({ on }) => on.end());

/** The last hour that is over: the newest check-in lies in the past whenever the test runs. */
const last = Math.floor(Date.now() / HOUR) * HOUR - HOUR;

/** Ten minutes past each hour, up to two minutes late. */
const HOURLY = Array.from({ length: 24 }, (_, run) => last - (23 - run) * HOUR + (10 + (run % 3)) * MINUTE);

/** Creates a snitch with check-ins that were spooled until now. */
async function reported(
  on: Commands,
  name: string,
  times: readonly number[],
  ...set: string[]
): Promise<void> {
  const { check_in_url: address } = await on.json<WireSnitch>('create', name, ...set);
  for (const at of times) {
    const answer = await fetch(`${address}?at=${new Date(at).toISOString()}`);
    assert.is(answer.status, 202, await answer.text());
  }
}

const shown = async (on: Commands, name: string) => {
  const { schedule, timezone, grace, alert_type } = await on.named(name);
  return [schedule, timezone, grace, alert_type];
};

const SET = [{ cron: '10 * * * *' }, 'UTC', 360, 'basic'];

applying('sets schedule, zone and grace, and says what changed and what is next', async ({ on }) => {
  await reported(on, 'hourly job', HOURLY, '-i', 'daily');
  await on.make('new job');
  const { code, stdout, stderr } = await on.run('suggest', '--apply', '--yes');
  assert.equal([code, stdout], [0, ''], stderr);
  assert.match(stderr, /^new job: left as it is: no schedule fits: only 0 check-ins are kept/m);
  assert.match(
    stderr,
    /^hourly job: daily, basic -> cron 10 \* \* \* \* \(UTC\), grace 6 min; false alarms 0 -> 0; a miss told after .+ -> .+\nnext: .*:10 UTC, .*:10 UTC, .*:10 UTC, …$/m,
  );
  assert.equal(await shown(on, 'hourly job'), SET);
  assert.equal(await shown(on, 'new job'), [null, null, null, 'basic']);
});

applying('once more it changes nothing, and the present setting is that of the schedule', async ({ on }) => {
  await reported(on, 'hourly job', HOURLY, '-i', 'hourly', '--alert-type', 'smart');
  await on.run('suggest', '--apply', '--force', 'hourly job');
  assert.equal(await shown(on, 'hourly job'), SET);
  const again = await on.run('suggest', '--apply', 'hourly job');
  assert.equal(
    [again.code, again.stderr],
    [0, 'hourly job: left as it is: it is already set\nnothing was changed\n'],
  );
  const { stdout } = await on.run('suggest', 'hourly job');
  const words = 'as it is set now \\(cron 10 \\* \\* \\* \\* \\(UTC\\), grace 6 min\\)';
  assert.match(stdout, new RegExp(`\\nFalse alarms: +0; ${words} 0\\n`));
});

applying('the present setting is judged with its schedule, its zone and its grace', async ({ on }) => {
  // Two runs of three come after a minute of grace.
  await reported(on, 'too strict', HOURLY, '--cron', '9 * * * *', '--grace', '1m');
  const found = await on.json<{ present: { false_alarms: number } }>('suggest', 'too strict');
  assert.ok(found.present.false_alarms > 10, `${found.present.false_alarms}`);
  // In a zone that is half an hour off, it is never right.
  await reported(
    on,
    'other zone',
    HOURLY,
    '--cron',
    '10 * * * *',
    '--timezone',
    'Asia/Kolkata',
    '--grace',
    '0s',
  );
  const zoned = await on.json<{ present: { false_alarms: number } }>('suggest', 'other zone');
  assert.ok(zoned.present.false_alarms > 20, `${zoned.present.false_alarms}`);
  const { code } = await on.run('suggest', '--apply', '--yes', 'too strict', 'other zone');
  assert.is(code, 0);
  // The zone of the snitch is the first that is tried.
  assert.equal(await shown(on, 'other zone'), [{ cron: '40 * * * *' }, 'Asia/Kolkata', 360, 'basic']);
  assert.equal(await shown(on, 'too strict'), SET);
});

applying('what is no better is left: a schedule that finds a miss just as soon', async ({ on }) => {
  await reported(on, 'good as it is', HOURLY, '--cron', '10 * * * *', '--timezone', 'UTC', '--grace', '3m');
  const before = await shown(on, 'good as it is');
  const { code, stderr } = await on.run('suggest', '--apply', '--force');
  assert.is(code, 0);
  assert.match(
    stderr,
    /^good as it is: left as it is: the present settings would have reported a missed run as soon: /,
  );
  assert.equal(await shown(on, 'good as it is'), before);
});

applying('expects of values what they were, and leaves what a person expects of one', async ({ on }) => {
  const { check_in_url: address } = await on.json<WireSnitch>(
    'create',
    'values',
    '-i',
    'daily',
    '--expect',
    'rows>=3',
  );
  for (const [index, at] of HOURLY.slice(0, 12).entries()) {
    const values = `v.bytes=${1_000 + 10 * (index % 4)}&v.rows=${7 + index}`;
    const answer = await fetch(`${address}?at=${new Date(at).toISOString()}&${values}`);
    assert.is(answer.status, 202);
  }
  const { code, stderr } = await on.run('suggest', '--apply', '--yes', 'values');
  assert.is(code, 0, stderr);
  assert.match(stderr, /; expect bytes from [\d.]+ to [\d.]+ times the usual, always reported\n/);
  const { expect, schedule } = await on.named('values');
  assert.equal(schedule, SET[0]);
  assert.equal(
    expect?.map(({ value, min }) => [value, min]),
    [
      ['rows', 3],
      ['bytes', null],
    ],
  );
});

applying('a longest runtime is set where runs report their start, and none is set yet', async ({ on }) => {
  const jobs: [name: string, own: object][] = [
    ['unlimited', {}],
    ['limited', { max_runtime: 60 }],
    ['to take longer', { min_runtime: 60 }],
  ];
  for (const [name, own] of jobs) {
    const { check_in_url: address, href } = await on.make(name);
    for (const at of HOURLY.slice(0, 8)) {
      const time = (ms: number) => new Date(at + ms).toISOString();
      assert.is((await fetch(`${address}/start?at=${time(0)}`)).status, 200);
      assert.is((await fetch(`${address}/0?at=${time(10_000)}`)).status, 200);
    }
    // The runs before it was set were shorter.
    await on.daemon.call('PATCH', href, own);
  }
  const { code, stderr } = await on.run('suggest', '--apply', '--yes');
  assert.is(code, 0, stderr);
  assert.match(stderr, /unlimited: .*; max runtime 30 s \(8 runs took at most 10\.0s\)/);
  const runtimes = await Promise.all(jobs.map(async ([name]) => (await on.named(name)).max_runtime));
  assert.equal(runtimes, [30, 60, null], 'none that every run would have to break');
  assert.equal(await shown(on, 'to take longer'), SET);
});

applying('without a terminal it needs --force, and --force alone means nothing', async ({ on }) => {
  await reported(on, 'hourly job', HOURLY, '-i', 'daily');
  const { code, stderr } = await on.run('suggest', '--apply');
  assert.is(code, 2);
  assert.match(stderr, /changing needs --force without a terminal to ask on/);
  assert.equal(await shown(on, 'hourly job'), [null, null, null, 'basic']);
  assert.is((await on.run('suggest', '--yes')).code, 2);
  assert.is((await on.run('suggest', '--apply', '--force', 'no such job', 'hourly job')).code, 3);
  assert.equal(await shown(on, 'hourly job'), [null, null, null, 'basic']);
});

applying('on a terminal it asks, and no is no', async ({ on }) => {
  await reported(on, 'hourly job', HOURLY, '-i', 'daily');
  for (const [input, expected] of [
    ['n\n', [null, null, null, 'basic']],
    ['y\n', SET],
  ] as const) {
    const { screen } = await onTerminal(['suggest', '--apply', 'hourly job'], {
      input,
      env: on.env,
      columns: 200,
    });
    assert.match(
      plain(screen),
      /This will be changed:\n +hourly job \([a-z2-7]{26}\): daily, basic -> cron 10/,
    );
    assert.match(plain(screen), /Change\? \[y\/N\]/);
    assert.equal(await shown(on, 'hourly job'), expected, input);
  }
});

applying('for programs: what was applied, and why the others were left', async ({ on }) => {
  await reported(on, 'hourly job', HOURLY, '-i', 'daily');
  await on.make('new job');
  const found = await on.json<{ name: string; applied: boolean; left_because: string | null }[]>(
    'suggest',
    '--apply',
    '--force',
  );
  assert.equal(
    found.map(({ name, applied, left_because }) => [name, applied, left_because === null]).sort(),
    [
      ['hourly job', true, true],
      ['new job', false, false],
    ],
  );
  assert.equal((await on.run('suggest', '--apply', '--force', '-q')).stdout, '');
});

applying.run();
