// Time limit: 120 s.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir, startProcess } from '../end-to-end/daemon-process.ts';
import { runSnitch, temporaryDirectory } from './snitch-process.ts';
import { type Commands, withDaemon } from './with-daemon.ts';

const backup = suite('snitch backup and restore');
let on: Commands;
let directory: ReturnType<typeof temporaryDirectory>;
let file: string;

backup.before.each(async () => {
  on = await withDaemon();
  directory = temporaryDirectory();
  file = join(directory.path, 'snitch.db');
});
backup.after.each(async () => {
  await on.end();
  directory.remove();
});

function namesIn(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  const names = db.prepare('SELECT name FROM snitches ORDER BY name').pluck().all();
  db.close();
  return names;
}

backup('a copy is whole while check-ins go on, and only its owner can read it', async () => {
  const { token } = await on.json<WireSnitch>('create', 'busy', '-i', 'daily');
  let busy = true;
  const load = (async () => {
    let sent = 0;
    while (busy) {
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${on.daemon.url}/c/${token}`)));
      sent += 20;
    }
    return sent;
  })();
  const { code, stdout, stderr } = await on.run('backup', file);
  busy = false;
  assert.ok((await load) > 0);
  assert.equal([code, stdout], [0, '']);
  assert.is(stderr, `${file}: verified, with 1 snitch in 1 case\n`);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.equal(namesIn(file), ['busy']);
  assert.equal(readdirSync(directory.path), ['snitch.db'], 'nothing is left beside it');
});

backup('a file that is there is replaced with --force only', async () => {
  writeFileSync(file, 'precious');
  const refused = await on.run('backup', file);
  assert.is(refused.code, 1);
  assert.match(refused.stderr, '--force');
  assert.is(readFileSync(file, 'utf8'), 'precious');
  assert.equal(await on.run('backup', '--force', '-q', file), { code: 0, stdout: '', stderr: '' });
  assert.is((await on.run('backup', directory.path)).code, 1);
  assert.is((await on.run('backup', join(directory.path, 'no/such/place'))).code, 1);
});

backup('restore is refused while a daemon works on the data', async () => {
  await on.run('backup', '-q', file);
  const { code, stderr } = await on.run('restore', file);
  assert.is(code, 1);
  assert.match(stderr, 'a daemon is using');
});

backup('restore brings back what was, and keeps what is', async () => {
  await on.run('create', 'before', '-i', 'daily');
  await on.run('backup', '-q', file);
  await on.run('create', 'after', '-i', 'daily');
  await on.daemon.end();
  const { code, stderr } = await on.run('restore', file);
  assert.is(code, 0, stderr);
  const kept = /kept: (.+)\n/.exec(stderr)?.[1] ?? '';
  assert.equal(namesIn(kept), ['after', 'before']);
  const again = await startProcess({ dataDir: on.daemon.dataDir });
  try {
    const listed = (await (await again.call('GET', '/v1/snitches')).json()) as WireSnitch[];
    assert.equal(
      listed.map(({ name }) => name),
      ['before'],
    );
  } finally {
    await again.end();
  }
});

backup('restore takes a killed daemon’s log along with its database', async () => {
  await on.run('create', 'kept', '-i', 'daily');
  await on.run('backup', '-q', file);
  await on.run('create', 'only in the log', '-i', 'daily');
  await on.daemon.end('SIGKILL');
  const { stderr } = await on.run('restore', file);
  const kept = /kept: (.+)\n/.exec(stderr)?.[1] ?? '';
  assert.equal(namesIn(kept), ['kept', 'only in the log']);
  assert.equal(namesIn(join(on.daemon.dataDir, 'snitch.db')), ['kept']);
});

backup('restore into an empty place makes it, private, with keys to get in', async () => {
  await on.run('create', 'moved', '-i', 'daily');
  await on.run('backup', '-q', file);
  const dataDir = join(newDataDir(), 'deep');
  try {
    assert.is((await runSnitch(['restore', file, '--data-dir', dataDir])).code, 0);
    assert.is(statSync(dataDir).mode & 0o777, 0o700);
    assert.is(statSync(join(dataDir, 'snitch.db')).mode & 0o777, 0o600);
    assert.equal(namesIn(join(dataDir, 'snitch.db')), ['moved']);
    const moved = await startProcess({ dataDir });
    assert.match((await runSnitch(['list'], { SNITCH_DATA_DIR: dataDir })).stdout, 'moved');
    assert.match((await runSnitch(['case', 'list'], { SNITCH_DATA_DIR: dataDir })).stdout, 'default');
    assert.is(
      (await moved.call('GET', '/v1/case', undefined, on.daemon.apiKey)).status,
      200,
      'old keys are good still',
    );
    await moved.end();
  } finally {
    removeDataDir(dataDir);
  }
});

backup('what is damaged, newer or no database of ours is refused, and changes nothing', async () => {
  await on.run('create', 'stays', '-i', 'daily');
  await on.run('backup', '-q', file);
  await on.daemon.end();
  const bad = join(directory.path, 'bad.db');
  const make: [string, () => void][] = [
    ['does not exist', () => undefined],
    ['no database', () => writeFileSync(bad, 'text '.repeat(1_000))],
    ['damaged', () => damage(bad)],
    ['no database of snitch', () => new Database(bad).exec('CREATE TABLE x (y)').close()],
    ['newer snitch', () => new Database(bad).exec('PRAGMA user_version = 999').close()],
  ];
  for (const [reason, spoil] of make) {
    if (reason !== 'does not exist') copyFileSync(file, bad);
    if (reason === 'no database of snitch') writeFileSync(bad, '');
    spoil();
    const { code, stderr } = await on.run('restore', bad);
    assert.is(code, 1, reason);
    assert.match(stderr, reason);
    assert.equal(namesIn(join(on.daemon.dataDir, 'snitch.db')), ['stays']);
    assert.not(
      readdirSync(on.daemon.dataDir).some((name) => name.includes('restor')),
      reason,
    );
  }
});

/** Cuts it in the middle: the header still says how long it was. */
function damage(path: string): void {
  chmodSync(path, 0o600);
  truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
  assert.ok(existsSync(path));
}

backup.run();
