/** What the first start creates, and what it leaves alone. Not with --fast: it starts whole daemons. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { knowsKeysIn } from '../../src/daemon/first-start.ts';
import { ending } from '../closing.ts';
import { newDataDir, ownDirectory, removeDataDir } from '../data-directory.ts';
import { unless, withoutRoot } from '../skipped.ts';

interface Context {
  dataDir: string;
  file: string;
  log: string[];
}

const test = suite<Context>('the file of the API keys, at later starts');

test.before.each(async (context) => {
  context.dataDir = newDataDir();
  context.file = join(context.dataDir, 'credentials.yaml');
  await startAndStop(context);
});

test.after.each(({ dataDir }) => removeDataDir(dataDir));

/** Starts the daemon and stops it, and records what it logged. */
async function startAndStop(context: Context): Promise<void> {
  context.log = [];
  const logger = pino({ level: 'info' }, { write: (line) => void context.log.push(line) });
  const env = { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: context.dataDir };
  await using daemon = ending(await startDaemon(await loadConfig({ env }), logger), (one) => one.stop());
  assert.is((await fetch(`${daemon.url}/healthz`)).status, 200);
}

/** What it said about the file. */
function problem({ log }: Context): string | undefined {
  const lines = log.map((line) => JSON.parse(line) as { problem?: string });
  return lines.find((line) => line.problem !== undefined)?.problem;
}

test('the file names the current address, and stays private', async (context) => {
  const before = parse(readFileSync(context.file, 'utf8'));
  chmodSync(context.file, 0o644);
  await startAndStop(context);
  const { url, ...keys } = parse(readFileSync(context.file, 'utf8'));
  assert.equal({ ...keys, url: before.url }, before);
  assert.is(statSync(context.file).mode & 0o777, 0o600);
  assert.is(problem(context), undefined);
});

unless(withoutRoot(), test)(
  'a start by root does not take the file from the user of the daemon',
  async (context) => {
    const { file } = context;
    chownSync(file, 65_534, 65_534);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^url: .*$/m, 'url: http://127.0.0.1:1'));
    await startAndStop(context);
    assert.not.match(readFileSync(file, 'utf8'), 'http://127.0.0.1:1\n');
    assert.equal([statSync(file).uid, statSync(file).gid], [65_534, 65_534]);
  },
);

test('a removed file is not created again, which is logged', async (context) => {
  rmSync(context.file);
  await startAndStop(context);
  assert.not(existsSync(context.file));
  assert.is(problem(context), 'it does not exist');
});

for (const damaged of ['admin_key: "snk_torn', 'hello', '- one\n- two', '']) {
  test(`a daemon starts beside a file that holds ${JSON.stringify(damaged)}, and leaves it as it is`, async (context) => {
    writeFileSync(context.file, damaged);
    await startAndStop(context);
    assert.is(readFileSync(context.file, 'utf8'), damaged);
    assert.ok(problem(context));
    assert.not.match(context.log.join(), 'snk_torn');
  });
}

test('keys do not follow a link that somebody planted', async () => {
  const dataDir = newDataDir();
  const context = { dataDir, file: join(dataDir, 'credentials.yaml'), log: [] };
  const theirs = join(dataDir, 'theirs');
  try {
    writeFileSync(theirs, '');
    symlinkSync(theirs, `${context.file}.new`);
    await startAndStop(context);
    assert.is(problem(context), undefined);
    assert.is(readFileSync(theirs, 'utf8'), '');
    assert.match(readFileSync(context.file, 'utf8'), 'snk_');
    assert.is(readdirSync(dataDir).filter((name) => name.startsWith('credentials')).length, 2);
  } finally {
    removeDataDir(dataDir);
  }
});

test('a data directory that everybody may write into is refused before anything is in it', async (context) => {
  chmodSync(context.dataDir, 0o777);
  const before = readFileSync(context.file);
  const error = await startAndStop(context).catch((reason: Error) => reason);
  assert.match(String(error), `every user of this host can write into the data directory ${context.dataDir}`);
  assert.match(String(error), `chmod o-w ${context.dataDir}`);
  assert.equal(readFileSync(context.file), before);
  chmodSync(context.dataDir, 0o775);
  await startAndStop(context);
  const warned = context.log.map((line) => JSON.parse(line)).find(({ remedy }) => remedy);
  assert.match(warned.msg, 'the group of the data directory can write into it');
  chmodSync(context.dataDir, 0o755);
  await startAndStop(context);
  assert.not.match(context.log.join(), 'remedy');
});

test('nothing is logged about keys in a file that is gone or cannot be parsed', async ({ dataDir }) => {
  const file = join(dataDir, 'another.yaml');
  const store = { findApiKey: async () => null };
  assert.ok(await knowsKeysIn(store, file));
  for (const content of ['api_key: [', 'keys', 'url: http://127.0.0.1\n']) {
    writeFileSync(file, content);
    assert.ok(await knowsKeysIn(store, file), content);
  }
  writeFileSync(file, 'api_key: snk_of_another\n');
  assert.not.ok(await knowsKeysIn(store, file));
});

test('a daemon starts even if the file cannot be read', async (context) => {
  rmSync(context.file);
  mkdirSync(context.file);
  await startAndStop(context);
  assert.is(problem(context), 'read failed with EISDIR');
});

test("an administrator's key that was made elsewhere is taken, replaced and taken away", async () => {
  using directory = ownDirectory();
  const dataDir = directory.path;
  const keyFile = join(dataDir, 'admin-key');
  const [first, second] = [`snk_${'a1'.repeat(20)}`, `snk_${'b2'.repeat(20)}`] as const;
  const env = { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir };
  /** Which of the two keys the server takes, after a start with these settings. */
  const accepted = async (settings: NodeJS.ProcessEnv) => {
    const config = await loadConfig({ env: { ...env, ...settings } });
    await using daemon = ending(await startDaemon(config, pino({ level: 'silent' })), (one) => one.stop());
    const statuses = [first, second].map(async (key) => {
      const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
      return (await fetch(`${daemon.url}/v1/cases`, { headers: { authorization } })).status;
    });
    return await Promise.all(statuses);
  };
  writeFileSync(keyFile, `${first}\n`);
  assert.equal(await accepted({ SNITCH_ADMIN_KEY_FROM: keyFile }), [200, 401]);
  const credentials = parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8'));
  assert.equal(Object.keys(credentials), ['url', 'api_key']);
  assert.equal(await accepted({ SNITCH_ADMIN_KEY_FROM: keyFile }), [200, 401]);
  writeFileSync(keyFile, second);
  assert.equal(await accepted({ CREDENTIALS_DIRECTORY: dataDir }), [401, 200]);
  assert.equal(await accepted({}), [401, 401]);
});

test("a key of a case is not taken for the administrator's", async ({ dataDir, file }) => {
  const { api_key: key } = parse(readFileSync(file, 'utf8')) as { api_key: string };
  const keyFile = join(dataDir, 'admin-key');
  writeFileSync(keyFile, key);
  const env = { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir, SNITCH_ADMIN_KEY_FROM: keyFile };
  const config = await loadConfig({ env });
  const error = await startDaemon(config, pino({ level: 'silent' })).catch((reason: Error) => reason);
  assert.match((error as Error).message, 'admin_key_from: this key is one of the case default already');
});

test.run();
