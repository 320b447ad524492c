import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Commands, withCase } from '../with-daemon.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Suggested {
  name: string;
  check_ins: number;
  present: { false_alarms: number; found_after: number } | null;
  suggested: {
    schedule: unknown;
    timezone: string;
    grace: number;
    missed_runs: number;
    false_alarms: number;
  } | null;
  unfit: string | null;
}

interface Measured {
  max_runtime: unknown;
  expect: unknown;
}

const suggestions = suite('snitch suggest');
let on: Commands;
suggestions.before(async () => {
  on = await withCase();
  /** The last hour that is over: the newest check-in lies in the past whenever the test runs. */
  const last = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
  const hourly = Array.from({ length: 60 }, (_, run) => last - (59 - run) * HOUR + (10 + (run % 3)) * MINUTE);
  await reported(
    'hourly job',
    hourly.filter((_, run) => run !== 20),
  );
  const random = [7, 340, 19, 1200, 3, 55, 780, 12, 2, 150, 400, 31, 5, 90, 1000, 8, 640, 44, 17, 260];
  let at = last - 6 * 24 * HOUR;
  await reported(
    'irregular job',
    random.map((minutes) => {
      at += minutes * MINUTE;
      return at;
    }),
  );
  await on.make('new job');
});
suggestions.after(() => on.end());

/** Makes a snitch whose job could not reach the server until now. */
async function reported(name: string, times: readonly number[]): Promise<void> {
  const { check_in_url: address } = await on.make(name);
  for (const at of times) {
    const answer = await fetch(`${address}?at=${new Date(at).toISOString()}`);
    assert.is(answer.status, 202, await answer.text());
  }
}

suggestions('a schedule with its grace, and what it would have told beside what is set', async () => {
  const found = await on.json<Suggested>('suggest', 'hourly job');
  assert.equal(found.suggested?.schedule, { cron: '10 * * * *' });
  assert.equal([found.check_ins, found.suggested?.missed_runs, found.suggested?.false_alarms], [59, 1, 0]);
  assert.ok(found.present!.found_after > found.suggested!.grace);
  const { stdout } = await on.run('suggest', 'hourly job');
  assert.match(stdout, /\nSchedule: +10 \* \* \* \* in UTC\n/);
  assert.match(stdout, /\nNext runs: +\w{3} \d{4}-\d\d-\d\d \d\d:10 /);
  assert.match(stdout, /\nMissed runs: +1\n/);
  assert.match(stdout, /\nFalse alarms: +0; as it is set now \(daily, basic\) 0\n/);
  assert.match(stdout, 'check-ins came from 0 s to 2 min after their time, usually 1 min');
  assert.match(stdout, /\nMax runtime: +unknown: /);
});

suggestions('where nothing fits it says so', async () => {
  const irregular = await on.json<Suggested>('suggest', 'irregular job');
  assert.is(irregular.suggested, null);
  assert.match(irregular.unfit ?? '', 'keep to no time of day');
  const { code, stdout } = await on.run('suggest', 'new job');
  assert.is(code, 0);
  assert.match(stdout, /\nSchedule: +none fits: only 0 check-ins are kept/);
});

suggestions('without a name, for all of the case', async () => {
  const all = await on.json<Suggested[]>('suggest');
  assert.equal(all.map(({ name }) => name).sort(), ['hourly job', 'irregular job', 'new job']);
  const { stdout } = await on.run('suggest');
  assert.match(stdout, /\nhourly job +daily +10 \* \* \* \* +UTC /);
  assert.match(stdout, /\nnew job +daily +none\n|\nnew job +daily +none +/);
});

suggestions('a name that is unknown is no suggestion', async () => {
  assert.is((await on.run('suggest', 'no such job')).code, 3);
});

suggestions('how long runs took and what they reported: the least, the usual and the most', async () => {
  const { check_in_url: address } = await on.make('measured job', { interval: 'hourly' });
  const last = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
  for (let run = 0; run < 11; run += 1) {
    const time = (ms: number) => new Date(last - (10 - run) * HOUR + ms).toISOString();
    const bytes = `v.bytes=${1_000 + 10 * (run % 4)}`;
    assert.is((await fetch(`${address}/start?at=${time(0)}`)).status, 200);
    assert.is((await fetch(`${address}/0?at=${time((10 + (run % 3)) * 1_000)}&${bytes}`)).status, 200);
  }
  const { max_runtime, expect } = await on.json<Measured>('suggest', 'measured job');
  assert.equal(max_runtime, { seconds: 45, earliest: 10, usual: 11, latest: 12 });
  const share = { value: 'bytes', min: null, max: null, of_usual: [0.65, 2], required: true };
  assert.equal(expect, [{ ...share, least: 1_000, usual: 1_010, most: 1_030 }]);
  const { stdout } = await on.run('suggest', 'measured job');
  assert.match(stdout, /\nMax runtime: +45 s: 11 runs took 10\.0s to 12\.0s, usually 11\.0s\n/);
  assert.match(
    stdout,
    /\nbytes: +from 0\.65 to 2 times the usual, always reported; it was 1000 to 1030, usually 1010\n/,
  );
});

suggestions.run();
