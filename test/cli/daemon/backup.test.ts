// Time limit: 240 s.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { closing } from '../../closing.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { startProcess } from '../../end-to-end/daemon-process.ts';
import { unless, withoutRoot } from '../../skipped.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

const backup = suite('snitch backup and restore');
/** Shared by all tests until one of them ends it or damages its data. */
let running: Commands | null = null;
let on: Commands;
let directory: ReturnType<typeof temporaryDirectory>;
let file: string;

backup.before.each(async () => {
  running ??= await withDaemon();
  on = running;
  directory = temporaryDirectory();
  file = join(directory.path, 'snitch.db');
});
backup.after.each(async () => {
  directory.remove();
  const { exitCode, signalCode } = on.daemon.child;
  if (exitCode !== null || signalCode !== null) {
    running = null;
    await on.end();
    return;
  }
  const snitches = (await (await on.daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
  for (const { token } of snitches) await on.daemon.call('DELETE', `/v1/snitches/${token}`);
});
backup.after(() => running?.end());

function namesIn(path: string): unknown[] {
  using db = closing(new Database(path, { readonly: true }));
  return db.prepare('SELECT name FROM snitches ORDER BY name').pluck().all();
}

backup('a copy is whole while check-ins go on, and only its owner can read it', async () => {
  const { token } = await on.make('busy');
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
  await on.make('before');
  await on.run('backup', '-q', file);
  await on.make('after');
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
  await on.make('kept');
  await on.run('backup', '-q', file);
  await on.make('only in the log');
  await on.daemon.end('SIGKILL');
  const { stderr } = await on.run('restore', file);
  const kept = /kept: (.+)\n/.exec(stderr)?.[1] ?? '';
  assert.equal(namesIn(kept), ['kept', 'only in the log']);
  assert.equal(namesIn(join(on.daemon.dataDir, 'snitch.db')), ['kept']);
});

backup('restore into an empty place makes it, private, with keys to get in', async () => {
  await on.make('moved');
  await on.run('backup', '-q', file);
  const dataDir = join(newDataDir(), 'deep');
  try {
    assert.is((await runSnitch(['restore', file, '--data-dir', dataDir])).code, 0);
    assert.is(statSync(dataDir).mode & 0o777, 0o700);
    assert.is(statSync(join(dataDir, 'snitch.db')).mode & 0o777, 0o600);
    assert.equal(namesIn(join(dataDir, 'snitch.db')), ['moved']);
    await using moved = await startProcess({ dataDir });
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

backup('restore leaves a key alone that the backup knows, if the admin key is kept elsewhere', async () => {
  const adminKey = join(directory.path, 'admin-key');
  writeFileSync(adminKey, `snk_${'a'.repeat(40)}\n`, { mode: 0o600 });
  await using provided = await startProcess({ env: { SNITCH_ADMIN_KEY_FROM: adminKey } });
  const { dataDir } = provided;
  await runSnitch(['backup', '-q', file, '--data-dir', dataDir]);
  await provided.end();
  const credentials = readFileSync(join(dataDir, 'credentials.yaml'), 'utf8');
  const { code, stderr } = await runSnitch(['restore', file, '--data-dir', dataDir]);
  assert.is(code, 0, stderr);
  assert.is(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8'), credentials);
  assert.not.match(stderr, 'new keys');
});

backup('what is damaged, newer or no database of ours is refused, and changes nothing', async () => {
  await on.make('stays');
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

backup('never replaces the database, by whatever name it is called', async () => {
  await on.make('stays');
  const { dataDir } = on.daemon;
  const database = join(dataDir, 'snitch.db');
  const at = (name: string) => join(directory.path, name);
  linkSync(database, at('hard link'));
  symlinkSync(database, at('link'));
  symlinkSync(dataDir, at('directory'));
  symlinkSync(join(dataDir, 'new.db'), at('link to nothing yet'));
  mkdirSync(join(dataDir, 'copies'));
  const before = statSync(database).ino;
  const targets = [
    database,
    `${database}-wal`,
    `${database}-shm`,
    join(dataDir, '..', basename(dataDir), '.', 'snitch.db'),
    join(dataDir, 'copy.db'),
    join(dataDir, 'copies/copy.db'),
    at('hard link'),
    at('link'),
    at('directory/snitch.db'),
    at('directory/copies/copy.db'),
    at('link to nothing yet'),
  ];
  for (const flags of [['-f'], []]) {
    for (const target of targets) {
      const { code, stderr } = await on.run('backup', ...flags, target);
      assert.is(code, 1, target);
      assert.match(stderr, /is \S+ itself|is in the data directory/, target);
      assert.not.match(stderr, '--force', target);
    }
  }
  assert.is(statSync(database).ino, before);
  assert.equal(
    readdirSync(dataDir).filter((name) => /copy|new|partial/.test(name)),
    [],
  );
  assert.is((await fetch(`${on.daemon.url}/readyz`)).status, 200);
});

backup('the standard output is no place for a copy, which says what to do', async () => {
  const { code, stdout, stderr } = await on.run('backup', '-');
  assert.equal([code, stdout], [2, '']);
  assert.match(stderr, 'name a file, and read that');
  assert.is(existsSync('-'), false);
});

backup('a device, a pipe or a socket is not replaced by a file', async () => {
  const pipe = join(directory.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  symlinkSync('/dev/null', join(directory.path, 'nothing'));
  for (const target of [pipe, join(directory.path, 'nothing')]) {
    const { code, stderr } = await on.run('backup', '-f', target);
    assert.is(code, 1);
    assert.match(stderr, 'is not a file that can be replaced');
  }
  assert.ok(statSync(pipe).isFIFO());
});

backup('whoever names a link is told once that the copy is not where it led', async () => {
  const elsewhere = join(directory.path, 'elsewhere.db');
  symlinkSync(elsewhere, file);
  const first = await on.run('backup', '-q', file);
  assert.is(first.code, 0, first.stderr);
  assert.match(first.stderr, `warning: ${file} was a link to ${elsewhere}`);
  assert.equal([existsSync(elsewhere), namesIn(file)], [false, []]);
  assert.is((await on.run('backup', '-q', '-f', file)).stderr, '');
});

backup('is not put over the database of another daemon', async () => {
  const other = await startProcess();
  try {
    const { code, stderr } = await on.run('backup', '-f', join(other.dataDir, 'snitch.db'));
    assert.is(code, 1);
    assert.match(stderr, 'the data directory of another snitch');
  } finally {
    await other.end();
    removeDataDir(other.dataDir);
  }
});

backup('the log of a file that is replaced does not get into the copy', async () => {
  await on.make('in the copy');
  using old = closing(new Database(file));
  old.exec('PRAGMA journal_mode = WAL; CREATE TABLE other (x); INSERT INTO other VALUES (1)');
  copyFileSync(`${file}-wal`, join(directory.path, 'log'));
  old.close();
  copyFileSync(join(directory.path, 'log'), `${file}-wal`);
  assert.is((await on.run('backup', '-f', file)).code, 0);
  assert.equal(namesIn(file), ['in the copy']);
  assert.not(existsSync(`${file}-wal`));
});

backup('a daemon whose database was replaced is not ready, and a stop saves what it has', async () => {
  const { dataDir } = on.daemon;
  await on.run('backup', '-q', file);
  renameSync(file, join(dataDir, 'snitch.db'));
  await on.make('after it was replaced');
  const answer = await fetch(`${on.daemon.url}/readyz`);
  assert.is(answer.status, 503);
  const text = await answer.text();
  assert.match(text, 'a file of the database was deleted, moved or replaced');
  assert.not.match(text, dataDir);
  assert.is(await on.daemon.end(), 0);
  const saved = readdirSync(dataDir).find((name) => name.includes('rescued')) ?? 'nothing';
  assert.ok(on.daemon.log.some((line) => line.includes(saved) && line.includes('"level":"error"')));
  assert.is(statSync(join(dataDir, saved)).mode & 0o777, 0o600);
  assert.is((await on.run('restore', join(dataDir, saved))).code, 0);
  assert.equal(namesIn(join(dataDir, 'snitch.db')), ['after it was replaced']);
});

backup('restore takes a database that was moved away together with its log', async () => {
  await on.make('only in the log');
  await on.daemon.end('SIGKILL');
  for (const suffix of ['', '-wal']) {
    renameSync(join(on.daemon.dataDir, `snitch.db${suffix}`), `${file}${suffix}`);
  }
  assert.is((await on.run('restore', file)).code, 0);
  assert.equal(namesIn(join(on.daemon.dataDir, 'snitch.db')), ['only in the log']);
});

backup('restore refuses the database itself, and takes a log without a database out of the way', async () => {
  await on.make('in the backup');
  await on.run('backup', '-q', file);
  await on.make('only in the log');
  await on.daemon.end('SIGKILL');
  const database = join(on.daemon.dataDir, 'snitch.db');
  const refused = await on.run('restore', database);
  assert.is(refused.code, 1);
  assert.match(refused.stderr, 'is the database');
  rmSync(database);
  assert.is((await on.run('restore', file)).code, 0);
  assert.equal(namesIn(database), ['in the backup']);
});

backup(
  'restore leaves a file of keys that it cannot read as it is, and says that the rest is done',
  async () => {
    await on.make('kept');
    await on.run('backup', '-q', file);
    await on.daemon.end();
    const credentials = join(on.daemon.dataDir, 'credentials.yaml');
    writeFileSync(credentials, 'half of a key\n');
    const { code, stderr } = await on.run('restore', file);
    assert.is(code, 0, stderr);
    assert.match(stderr, 'restored, with 1 snitch in 1 case');
    assert.match(stderr, 'the database from before is kept');
    assert.match(stderr, `${credentials} cannot be read (line 1 is not of the form NAME: VALUE)`);
    assert.is(readFileSync(credentials, 'utf8'), 'half of a key\n');
    rmSync(credentials);
    assert.match((await on.run('restore', file)).stderr, `${credentials} has new keys`);
  },
);

unless(withoutRoot(), backup)(
  'what root restored belongs to the daemon, also if a step of it fails',
  async () => {
    await on.run('backup', '-q', file);
    const dataDir = newDataDir();
    try {
      chownSync(dataDir, 65_534, 65_534);
      const foreign = () =>
        readdirSync(dataDir).filter((name) => statSync(join(dataDir, name)).uid !== 65_534);
      assert.is((await runSnitch(['restore', import.meta.filename, '--data-dir', dataDir])).code, 1);
      assert.equal(foreign(), [], 'after a file that is no backup');
      mkdirSync(join(dataDir, 'credentials.yaml'));
      chownSync(join(dataDir, 'credentials.yaml'), 65_534, 65_534);
      await runSnitch(['restore', file, '--data-dir', dataDir]);
      assert.ok(existsSync(join(dataDir, 'snitch.db')));
      assert.equal(foreign(), [], 'after the keys could not be looked at');
    } finally {
      removeDataDir(dataDir);
    }
  },
);

/** Truncates it to half, while the header still says how long it was. */
function damage(path: string): void {
  chmodSync(path, 0o600);
  truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
  assert.ok(existsSync(path));
}

backup.run();
