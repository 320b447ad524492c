/** When a job is due: schedules, time zones and grace by `create`, `edit`, `show`, `explain` and `list`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFakeServer } from '../fake-server.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('when a job is due');
let on: Commands;

const BERLIN = ['--timezone', 'Europe/Berlin'];

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

test('create keeps a schedule, its zone and a grace, and shows the next runs', async () => {
  const made = await on.run('create', 'weekdays', '--cron', '0 3 * * 1-5', ...BERLIN, '--grace', '10m');
  assert.is(made.code, 0, made.stderr);
  const run = '\\w{3} \\d+ \\w{3}( \\d{4})? 03:00 CES?T';
  assert.match(made.stderr, new RegExp(`^next: ${run}, ${run}, ${run}, …\\n$`));
  assert.match(made.stdout, /\nSchedule: +cron 0 3 \* \* 1-5 \(Europe\/Berlin\)\nGrace: +10 min\n/);
  const kept = await on.named('weekdays');
  assert.equal(kept.schedule, { cron: '0 3 * * 1-5' });
  assert.equal([kept.timezone, kept.grace, kept.interval], ['Europe/Berlin', 600, 'weekly']);
});

test('for programs nothing is said beside the answer', async () => {
  const json = await on.run('create', 'as json', '--calendar', 'Mon *-*-* 04:00', '--json');
  assert.equal([json.code, json.stderr], [0, '']);
  assert.equal(JSON.parse(json.stdout).schedule, { calendar: 'Mon *-*-* 04:00' });
  const quiet = await on.run('create', 'quietly', '--every', '90m', '-q');
  assert.match(quiet.stdout, /^[a-z2-7]{26}\n$/);
  assert.is(quiet.stderr, '');
  const zoned = await on.run('create', 'zoned', '--calendar', '*-*-* 03:00 America/New_York');
  assert.match(zoned.stdout, /\nSchedule: +OnCalendar \*-\*-\* 03:00 America\/New_York\n/);
  assert.match(zoned.stderr, /^next: .* 03:00 E[SD]T, /);
  const every = await on.run('create', 'every', '--every', '90m');
  assert.is(every.stderr, 'due: every 1 h 30 min after its last check-in\n');
});

test('edit sets, changes and drops a schedule, and says what replaced it', async () => {
  await on.make('edited');
  const set = await on.run('edit', 'edited', '--cron', '@daily', ...BERLIN, '--grace', '1h');
  assert.match(set.stderr, /^next: .* 00:00 CES?T, /);
  const other = await on.run('edit', 'edited', '--notes', 'n', '--no-timezone', '--no-grace');
  assert.match(other.stderr, /^next: .* 00:00 UTC, /);
  const kept = await on.named('edited');
  assert.equal([kept.schedule, kept.timezone, kept.grace], [{ cron: '@daily' }, null, null]);
  const replaced = await on.run('edit', 'edited', '-i', 'hourly');
  assert.is(replaced.stderr, 'the interval replaces its schedule, cron @daily (time zone of the case)\n');
  await on.run('edit', 'edited', '--cron', '@daily');
  const dropped = await on.run('edit', 'edited', '--no-schedule');
  assert.equal([dropped.code, dropped.stderr], [0, '']);
  assert.match(dropped.stdout, /\nInterval: +daily\n/);
});

test('unpause shows the next runs, of each with its name', async () => {
  await on.run('create', 'resting', '--cron', '0 3 * * *', ...BERLIN);
  await on.run('check-in', 'resting');
  await on.make('idle');
  await on.run('check-in', 'idle');
  const both = ['resting', 'idle'];
  await on.run('pause', ...both);
  const { code, stdout, stderr } = await on.run('unpause', 'resting');
  assert.equal([code, stdout], [0, '']);
  assert.match(stderr, /^resting: no longer paused\nnext: \w{3} \d+ \w{3}( \d{4})? 03:00 CES?T, .*, …\n$/);
  await on.run('pause', ...both);
  const several = await on.run('unpause', ...both);
  assert.match(
    several.stderr,
    /^resting: no longer paused\nidle: no longer paused\nresting: next: .* 03:00 /,
  );
  await on.run('pause', 'resting');
  assert.is((await on.run('unpause', 'resting', '-q')).stderr, '');
  await on.run('pause', 'resting');
  const json = await on.run('unpause', 'resting', '--json');
  assert.equal([json.stderr, JSON.parse(json.stdout)[0].status], ['resting: no longer paused\n', 'healthy']);
});

test('show, explain and the wide list have the schedule and the next runs', async () => {
  await on.run('create', 'seen', '--cron', '30 2 * * *', ...BERLIN, '--grace', '10m', '-t', 'seen');
  const line = '\\w{3} \\d{4}-\\d\\d-\\d\\d 02:30 \\+0[12]:00, deadline \\w{3} \\S+ 02:40 \\+0[12]:00';
  const runs = new RegExp(`\\nNext runs: +${line}(\\n +${line}){4}(\\n|$)`);
  const show = await on.run('show', 'seen');
  assert.equal([show.code, show.stderr], [0, '']);
  assert.match(show.stdout, runs);
  const explain = await on.run('explain', 'seen');
  assert.match(explain.stdout, runs);
  assert.match(explain.stdout, /\nSchedule: +cron 30 2 \* \* \* \(Europe\/Berlin\)\nGrace: +10 min\n/);
  assert.not.match(explain.stdout, /\nInterval:/);
  const wide = await on.run('list', '-t', 'seen', '-o', 'wide');
  assert.match(wide.stdout, /SCHEDULE.*\n.* cron 30 2 \* \* \* \(Europe\/Berlin\) /);
  assert.is((await on.run('list', '-t', 'seen', '-o', 'name')).stdout, 'seen\n');
  await on.run('create', 'late', '-i', 'daily', '--grace', '1h');
  assert.match(
    (await on.run('explain', 'late')).stdout,
    /\nInterval: +daily, alerts basic, with 1 h of grace\n/,
  );
});

test('what is wrong is said in words, and changes nothing', async () => {
  const wrong = await on.run('create', 'wrong', '--cron', '0 25 * * *');
  assert.is(wrong.code, 1);
  assert.match(wrong.stderr, /schedule: cannot be read: hour "25"/);
  for (const args of [
    ['create', 'wrong', '--cron', '@daily', '--every', '1d'],
    ['create', 'wrong', '-i', 'daily', ...BERLIN],
    ['create', 'wrong', '-i', 'daily', '--grace', 'much'],
    ['edit', 'weekdays', '--no-schedule', '--cron', '@daily'],
    ['edit', 'weekdays', '--no-schedule', ...BERLIN],
  ]) {
    const { code, stderr } = await on.run(...args);
    assert.is(code, 2, stderr);
  }
  assert.is((await on.run('show', 'wrong')).code, 3);
  assert.equal((await on.named('weekdays')).schedule, { cron: '0 3 * * 1-5' });
});

test('a server that does not know schedules changes nothing, and the command fails', async () => {
  const { schedule: _s, timezone: _t, grace: _g, ...old } = await on.named('weekdays');
  const server = await startFakeServer(({ method, url }) => {
    if (url === '/v1/schedules/check') return { status: 404, body: { error: 'not found' } };
    return { status: 200, body: method === 'GET' && url?.split('?')[0] === '/v1/snitches' ? [old] : old };
  });
  const run = (...args: string[]) => runSnitch(args, { SNITCH_URL: server.url, SNITCH_API_KEY: 'x' });
  try {
    for (const args of [
      ['create', 'new', '-i', 'daily', '--cron', '@daily'],
      ['edit', 'weekdays', '--cron', '@daily'],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      assert.equal([code, stdout], [1, ''], stderr);
      assert.match(stderr, /nothing was changed: the server does not know schedules/);
    }
    assert.equal(
      server.requests.filter(
        ({ method, url }) => method === 'PATCH' || (method === 'POST' && url === '/v1/snitches'),
      ),
      [],
    );
    const grace = await run('create', 'new', '-i', 'daily', '--grace', '5m');
    assert.equal([grace.code, grace.stdout], [1, '']);
    assert.match(grace.stderr, /did not keep its grace.*snitch delete/s);
  } finally {
    await server.stop();
  }
});

test.run();
