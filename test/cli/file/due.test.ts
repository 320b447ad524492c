/** When jobs are due, by `export`, `diff` and `apply`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { startFakeServer } from '../fake-server.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite<{ on: Commands; write(text: string): string }>('when jobs are due, in a file');

test.before.each(async (context) => {
  context.on = await withCase();
  const file = join(context.on.daemon.dataDir, 'case.yaml');
  context.write = (text) => {
    writeFileSync(file, text);
    return file;
  };
});
test.after.each(({ on }) => on.end());

const dueOf = ({ interval, schedule, timezone, grace }: WireSnitch) => ({
  interval,
  schedule,
  timezone,
  grace,
});

test('export and apply bring every kind back, and nothing differs then', async ({ on, write }) => {
  const made = [
    ['weekdays', '--cron', '0 3 * * 1-5', '--timezone', 'Europe/Berlin', '--grace', '10m'],
    ['stars', '--cron', '*/5 * * * *'],
    ['mondays', '--calendar', 'Mon *-*-* 04:00'],
    ['every', '--every', '5400s', '--grace', '61s'],
    ['both', '-i', 'monthly', '--cron', '@daily'],
    ['lenient', '-i', 'daily', '--grace', '1h'],
    ['plain', '-i', 'hourly'],
  ];
  for (const args of made) assert.is((await on.run('create', ...args)).code, 0);
  const before = await on.listed();
  const { stdout: text } = await on.run('export');
  assert.match(text, /every: 90m\n {4}grace: 61s\n/);
  const file = write(text);
  const diff = await on.run('diff', '-f', file, '--exit-code');
  assert.equal([diff.code, diff.stdout, diff.stderr], [0, '', '7 unchanged\n']);
  for (const { token } of before) assert.is((await on.run('delete', token, '--force')).code, 0);
  const applied = await on.run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  const weekday = '\\w{3} \\d+ \\w{3}( \\d{4})? 03:00 CES?T';
  assert.match(applied.stderr, new RegExp(`\napplied\n(.*\n)*weekdays: next ${weekday}, ${weekday}, …\n`));
  assert.match(applied.stderr, /\nevery: due every 1 h 30 min after its last check-in\n/);
  assert.not.match(applied.stderr, /plain: next|lenient: next/);
  const after = await on.listed();
  // An interval beside a schedule is only shown; it follows from the schedule again.
  const expected = before.map((one) => ({
    ...dueOf(one),
    ...(one.name === 'both' ? { interval: 'daily' } : {}),
  }));
  assert.equal(after.map(dueOf), expected);
});

test('apply shows the next runs of what it changes, and of many only some', async ({ on, write }) => {
  const cron = (name: string, at: string) => `  - {name: ${name}, schedule: {cron: '${at}'}}\n`;
  const entries = (count: number, at: string) =>
    Array.from({ length: count }, (_, index) => cron(`job${index}`, at)).join('');
  const many = await on.run('apply', '-f', write(`owner: o\nsnitches:\n${entries(8, '0 3 * * *')}`), '--yes');
  assert.is(many.code, 0, many.stderr);
  assert.is(many.stderr.match(/^job\d: next .* 03:00 UTC, .*, …$/gm)?.length, 5);
  assert.match(many.stderr, /\nand 3 more with a schedule: `snitch show NAME` lists/);
  const rest = entries(8, '0 3 * * *').replace('0 3 *', '30 4 *');
  const one = await on.run('apply', '-f', write(`owner: o\nsnitches:\n${rest}`), '--yes');
  assert.match(one.stderr, /\napplied\njob0: next .* 04:30 UTC, .* 04:30 UTC, …\n$/);
  const quiet = await on.run(
    'apply',
    '-f',
    write(`owner: o\nsnitches:\n${entries(8, '@daily')}`),
    '--yes',
    '-q',
  );
  assert.equal([quiet.code, quiet.stderr], [0, '']);
});

test('a file from before schedules drops none, and says so', async ({ on, write }) => {
  await on.run('create', 'old', '-i', 'daily', '--grace', '5m');
  const file = write('owner: x\nsnitches:\n  - {name: old, interval: daily, notes: from the file}\n');
  await on.run('edit', 'old', '--cron', '0 3 * * 1-5', '--timezone', 'Europe/Berlin');
  const applied = await on.run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.match(
    applied.stderr,
    /left as it is, because the file names no schedule and no grace: when "old" is due/,
  );
  const kept = await on.named('old');
  assert.is(kept.notes, 'from the file');
  assert.equal(dueOf(kept), {
    interval: 'weekly',
    schedule: { cron: '0 3 * * 1-5' },
    timezone: 'Europe/Berlin',
    grace: 300,
  });
});

test('a changed file changes and drops what it names', async ({ on, write }) => {
  await on.run('create', 'job', '--cron', '@daily', '--grace', '5m');
  const apply = async (entry: string) => {
    const file = write(`owner: x\nsnitches:\n  - {name: job, ${entry}}\n`);
    const { code, stderr } = await on.run('apply', '-f', file, '--yes');
    assert.is(code, 0, stderr);
    const diff = await on.run('diff', '-f', file, '--exit-code');
    assert.is(diff.code, 0, diff.stdout);
    return dueOf(await on.named('job'));
  };
  const cron = { cron: '@daily' };
  assert.equal(await apply("schedule: {cron: '@daily'}, timezone: Asia/Tokyo"), {
    interval: 'daily',
    schedule: cron,
    timezone: 'Asia/Tokyo',
    grace: null,
  });
  const monthly = await apply("interval: monthly, schedule: {cron: '@daily'}");
  assert.equal([monthly.interval, monthly.schedule], ['monthly', cron]);
  const hourly = await apply('interval: hourly, schedule: null');
  assert.equal(hourly, { interval: 'hourly', schedule: null, timezone: null, grace: null });
});

test('what is wrong is named with its line; a server without schedules is told from one with', async ({
  on,
  write,
}) => {
  const file = write("snitches:\n  - name: job\n    schedule: {cron: '0 25 * * *'}\n    grace: often\n");
  const { code, stderr } = await on.run('apply', '-f', file, '--yes');
  assert.is(code, 1);
  assert.match(stderr, /case\.yaml:3: job: schedule: cannot be read: hour "25"/);
  assert.match(stderr, /case\.yaml:4: job: grace: must be a whole number of seconds/);
  const server = await startFakeServer(({ url }) => ({
    status: url === '/v1/schedules/check' ? 404 : 200,
    body: { error: 'not found', snitches: [], case: {}, problems: [], room: null },
  }));
  try {
    const old = await runSnitch(['apply', '-f', file, '--yes'], {
      SNITCH_URL: server.url,
      SNITCH_API_KEY: 'x',
    });
    assert.is(old.code, 1);
    assert.match(old.stderr, /nothing was changed: the server does not know schedules/);
  } finally {
    await server.stop();
  }
});

test.run();
