/** `snitch move` with the built program: a daemon on SQLite, then on PostgreSQL, then on SQLite again. Time limit: 180 s. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { runSnitch } from '../cli/snitch-process.ts';
import { ending } from '../closing.ts';
import { ownDirectory } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

interface Context {
  cluster: Cluster;
}

const PASSWORD = 'a-secret/of:the@store';

const test = suite<Context>('snitch move');

test.before(async (context) => {
  context.cluster = await startCluster({ access: ['host all snitch 127.0.0.1/32 scram-sha-256'] });
  await context.cluster.query(`CREATE ROLE snitch LOGIN PASSWORD '${PASSWORD}'`);
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** Everything that a client can read about what people made and what jobs did. */
const READ = [
  ...[
    '/v1/case',
    '/v1/snitches',
    '/v1/webhooks',
    '/v1/channels',
    '/v1/silences',
    '/v1/alerts',
    '/v1/deliveries',
  ],
  ...[
    '/v1/status_page',
    '/v1/badges',
    '/v1/log',
    '/v1/snitches/TOKEN/check_ins',
    '/v1/snitches/TOKEN/explain',
  ],
];

/** Leaves out what differs at each start: the listening address, and what is counted since the start. */
async function answersOf(daemon: DaemonProcess, token: string): Promise<string[]> {
  const texts = READ.map(async (path) => {
    const answer = await daemon.call('GET', path.replace('TOKEN', token));
    return `${path} ${answer.status} ${(await answer.text()).replaceAll(daemon.url, 'URL')}`;
  });
  return Promise.all(texts);
}

async function make(daemon: DaemonProcess, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await daemon.call('POST', path, body);
  const text = await answer.text();
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** A snitch with a past, and something of each kind that people make. */
async function populate(daemon: DaemonProcess, hook: string): Promise<string> {
  const made = await make(daemon, '/v1/snitches', {
    name: 'nightly 漢字',
    interval: 'daily',
    tags: ['db', 'ü'],
    notes: 'call 🎉 first',
    max_runtime: 600,
  });
  const { token } = made as unknown as WireSnitch;
  await make(daemon, '/v1/snitches', { name: 'needs it', interval: 'weekly', needs: [token], tags: ['db'] });
  await make(daemon, '/v1/webhooks', { url: hook });
  await make(daemon, '/v1/silences', {
    tags: ['db'],
    schedule: { cron: '0 3 * * *' },
    duration: 600,
    note: 'nightly',
  });
  await make(daemon, '/v1/badges', { token });
  for (const query of ['v.bytes=17&m=well', 's=3&m=broken', 'state=start&rid=1', 'rid=1'])
    assert.ok((await fetch(`${daemon.url}/c/${token}?${query}`)).ok);
  // What is sent again and again would differ each time.
  const isDelivered = async () => {
    const all = (await (await daemon.call('GET', '/v1/deliveries')).json()) as { state: string }[];
    return all.length === 3 && all.every(({ state }) => state === 'delivered');
  };
  await until(isDelivered, 'all alerts are delivered');
  return token;
}

function digest(dataDir: string): string {
  return createHash('sha256')
    .update(readFileSync(join(dataDir, 'snitch.db')))
    .digest('hex');
}

test('what people and jobs left is the same on PostgreSQL, and on SQLite again', async ({ cluster }) => {
  using place = ownDirectory();
  const dataDir = join(place.path, 'data');
  await using receiver = ending(await startWebhookReceiver(), ({ stop }) => stop());
  await using first = await startProcess({ dataDir });
  const token = await populate(first, receiver.url);
  const database = await cluster.newDatabase();
  await cluster.query(`ALTER DATABASE ${database} OWNER TO snitch`);
  const url = `postgres://snitch@127.0.0.1:${cluster.port}/${database}`;
  const [right, wrong] = [join(place.path, 'right'), join(place.path, 'wrong')];
  writeFileSync(right, `${PASSWORD}\n`, { mode: 0o600 });
  writeFileSync(wrong, 'another-secret\n', { mode: 0o600 });
  const env = { SNITCH_DATA_DIR: dataDir };
  const move = (...args: string[]) => runSnitch(['move', ...args], env);

  const running = await move('--to', url, '--password-file', right);
  assert.equal([running.code, running.stdout], [75, '']);
  assert.match(running.stderr, /daemon.*is using .*stop it first.*Nothing was moved/);
  const before = await answersOf(first, token);
  assert.is(await first.end(), 0);
  const source = digest(dataDir);

  const refused = await move('--to', url, '--password-file', wrong);
  assert.is(refused.code, 4);
  assert.match(refused.stderr, /password authentication failed.*as it was/);
  const missing = await move('--to', url);
  assert.is(missing.code, 4, missing.stderr);
  const moved = await move('--to', url, '--password-file', right);
  assert.equal([moved.code, moved.stdout], [0, ''], moved.stderr);
  assert.match(moved.stderr, /moved and verified, with 2 snitches, 1 case, 4 check-ins/);
  assert.match(moved.stderr, /store\.url in the configuration/);
  assert.is(digest(dataDir), source, 'the source is as it was');
  for (const { stderr } of [refused, missing, moved]) {
    for (const secret of [PASSWORD, 'another-secret']) assert.not(stderr.includes(secret), stderr);
    assert.not(stderr.includes('\u001b'), 'no progress where nobody watches');
  }

  const onPostgres = { SNITCH_STORE_URL: url, SNITCH_STORE_PASSWORD_FILE: right };
  const keysOf = { adminKey: first.adminKey, apiKey: first.apiKey };
  {
    await using node = await startProcess({ dataDir: join(place.path, 'node'), env: onPostgres, keysOf });
    assert.equal(await answersOf(node, token), before);
    const windows = await cluster.query(
      'SELECT ended_at > started_at AS real FROM blind_windows',
      [],
      database,
    );
    assert.equal(windows, [{ real: true }], 'nobody took check-ins between the two daemons');
    assert.is((await fetch(`${node.url}/c/${token}`)).status, 202);
    const alive = await runSnitch(['move', '--to', `sqlite:${place.path}/back.db`], {
      ...env,
      ...onPostgres,
    });
    assert.is(alive.code, 75, alive.stderr);
    assert.match(alive.stderr, /daemons work on .*Stop all of them first/);
    assert.not(existsSync(join(place.path, 'back.db')));
    assert.is(await node.end(), 0);
  }
  const file = join(place.path, 'back.db');
  const back = await runSnitch(['move', '-q', '--to', `sqlite:${file}`], { ...env, ...onPostgres });
  assert.equal(back, { code: 0, stdout: '', stderr: '' });
  const restored = await runSnitch(['restore', file], env);
  assert.is(restored.code, 0, restored.stderr);
  assert.not(restored.stderr.includes('new keys'), 'the keys are those of the beginning');
  await using last = await startProcess({ dataDir });
  const after = await answersOf(last, token);
  const isSame = (path: string) => !/check_ins|explain|\/v1\/snitches /.test(path);
  assert.equal(after.filter(isSame), before.filter(isSame));
  const checkIns = (await (await last.call('GET', `/v1/snitches/${token}/check_ins`)).json()) as unknown[];
  assert.is(checkIns.length, 5);
  await until(
    () => last.log.some((line) => line.includes('in this window')),
    'this daemon says that the time was blind',
  );
});

test('says what was typed wrong and what is impossible, each with its exit code', async ({ cluster }) => {
  using place = ownDirectory();
  const env = { SNITCH_DATA_DIR: place.path };
  const ended = async (...args: string[]) => {
    const { code, stderr } = await runSnitch(['move', ...args], env);
    return `${code} ${stderr}`;
  };
  assert.match(await ended(), /^2 .*--to/);
  assert.match(
    await ended('--to', 'mysql://u:hidden@h/d'),
    /^2 snitch: --to must be postgres:\/\/… or sqlite:FILE\n$/,
  );
  assert.match(await ended('--to', 'postgres://u:hid#den@h/d'), /^2 (?!.*hid)/);
  assert.match(await ended('--to', 'sqlite:'), /^2 /);
  assert.match(await ended('--to', 'sqlite:/tmp/x.db'), /^1 .*SQLite already.*snitch backup/);
  assert.match(await ended('--to', cluster.url('nowhere')), /^1 .*there is no database in/);
  await (await startProcess({ dataDir: place.path })).end();
  assert.match(
    await ended('--to', cluster.url('nowhere')),
    /^5 .*database "nowhere" does not exist.*as it was/,
  );
  assert.match(
    await ended('--to', 'postgres://u:hidden@127.0.0.1:1/d'),
    /^5 others on this host(?!.*hidden)/s,
  );
});

runUnless(WITHOUT_POSTGRES, test, 'snitch move');
