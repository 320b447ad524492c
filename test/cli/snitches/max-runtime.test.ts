/** How long a run may take, by `create`, `edit`, `show`, `explain`, `list` and files. Time limit: 180 s. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { until } from '../../until.ts';
import { startFakeServer } from '../fake-server.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('how long a run may take');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

test('create and edit set it, and edit drops it', async () => {
  const made = await on.run('create', 'job', '-i', 'daily', '--max-runtime', '2h');
  assert.is(made.code, 0, made.stderr);
  assert.match(made.stdout, /\nInterval: +daily\nMax runtime: +2 h\n/);
  assert.is((await on.named('job')).max_runtime, 7_200);
  assert.is((await on.run('edit', 'job', '--max-runtime', '90s')).code, 0);
  assert.is((await on.named('job')).max_runtime, 90);
  assert.match((await on.run('explain', 'job')).stdout, /\nMax runtime: +1 min 30 s\n/);
  assert.match((await on.run('list', '-o', 'wide')).stdout, /MAX RUNTIME.*\n.* 1m 30s /);
  assert.is((await on.run('edit', 'job', '--no-max-runtime')).code, 0);
  assert.is((await on.named('job')).max_runtime, null);
});

test('what is no length of time is refused, by the command or by the server', async () => {
  const wrong = await on.run('create', 'wrong', '-i', 'daily', '--max-runtime', 'long');
  assert.is(wrong.code, 2);
  assert.match(wrong.stderr, '--max-runtime: "long" is not a length of time: write 30s, 5m, 2h or 1d');
  const much = await on.run('create', 'wrong', '-i', 'daily', '--max-runtime', '32d');
  assert.is(much.code === 0, false);
  assert.match(much.stderr, /max.runtime.* from 1 to 2678400, which is 31 days/);
});

test('show and explain tell what runs', async () => {
  const { token } = await on.json<WireSnitch>('create', 'runs', '-i', 'daily', '--max-runtime', '2h');
  assert.is((await on.daemon.call('GET', `/c/${token}/start`)).status, 200);
  assert.match((await on.run('show', 'runs')).stdout, /\nRunning: +since 20\S+, overruns at 20\S+\n/);
  assert.match(
    (await on.run('explain', 'runs')).stdout,
    /A run that started at .* is going on: it may take 2 h/,
  );
});

test('the daemon finds the run that hangs, and its end says how long it took', async () => {
  const { token } = await on.json<WireSnitch>('create', 'hangs', '-i', 'daily', '--max-runtime', '1s');
  await on.daemon.call('GET', `/c/${token}`);
  await on.daemon.call('GET', `/c/${token}/start`);
  const status = async () => (await on.named('hangs')).status;
  await until(async () => (await status()) === 'failed', 'the run overran', 30_000);
  assert.match((await on.run('show', 'hangs')).stdout, /\nWhy: +a run that started at .* has not ended\n/);
  assert.match((await on.run('explain', 'hangs')).stdout, /Why: a run that started at .* has not ended\./);
  assert.match(
    (await on.run('alerts', 'hangs', '-o', 'wide')).stdout,
    /missing .* a run that started at .* has not ended/,
  );
  await on.daemon.call('GET', `/c/${token}`);
  assert.is(await status(), 'healthy');
  assert.match(
    (await on.run('alerts', 'hangs', '-o', 'wide')).stdout,
    /reporting .* a run ended well after \d+ s/,
  );
});

test('export, diff and apply keep it, and a file that does not name it leaves it', async () => {
  const file = join(on.daemon.dataDir, 'runs.yaml');
  const apply = async (text: string) => {
    writeFileSync(file, text);
    const { code, stderr } = await on.run('apply', '-f', file, '--yes');
    assert.is(code, 0, stderr);
    return stderr;
  };
  const most = async () => (await on.named('kept')).max_runtime;
  await apply('owner: x\nsnitches: [{name: kept, interval: daily, max_runtime: 90m}]\n');
  assert.is(await most(), 5_400);
  assert.match((await on.run('export', '--owner', 'x')).stdout, /interval: daily\n {4}max_runtime: 90m\n/);
  const said = await apply('owner: x\nsnitches: [{name: kept, interval: daily}]\n');
  assert.match(said, /left as it is, because the file does not say it: how the runs of "kept" must look/);
  assert.is(await most(), 5_400);
  await apply('owner: x\nsnitches: [{name: kept, interval: daily, max_runtime: null}]\n');
  assert.is(await most(), null);
});

test('a server that is too old to know it does not look as if it had worked', async () => {
  const { max_runtime: _, ...old } = await on.make('old');
  await using server = await startFakeServer({ status: 200, body: old });
  const env = { SNITCH_URL: server.url, SNITCH_API_KEY: 'x' };
  const { code, stderr } = await runSnitch(['create', 'old', '-i', 'daily', '--max-runtime', '2h'], env);
  assert.is(code, 1);
  assert.match(stderr, 'the server did not keep the longest time for its runs: it is too old');
});

test.run();
