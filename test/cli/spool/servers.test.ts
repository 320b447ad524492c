/** A spooled check-in goes to the server it was made for, whichever is the default by the time it is sent. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FakeServer, startFakeServer } from '../fake-server.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';

interface Context {
  home: FakeServer;
  work: FakeServer;
  path: string;
  env: NodeJS.ProcessEnv;
  isAway: boolean;
  /** Writes `cli.yaml`. */
  names(servers: Record<string, string>, first?: string): void;
  kept(): string[];
  remove(): void;
}

const TOKEN = 'abcdefghijklmnopqrstuvwxyz';
const NAME = 'nightly backup';

const test = suite<Context>('the spool with several servers');

test.before.each(async (context) => {
  context.isAway = true;
  const start = (own: string) =>
    startFakeServer((request: IncomingMessage) => {
      if (context.isAway) return { status: 503, headers: { snitch: '1', 'retry-after': '0' } };
      if (!request.url?.startsWith('/v1/snitches')) return { status: 202, headers: { snitch: '1' } };
      return {
        status: 200,
        headers: { snitch: '1' },
        body: [snitchAt(`http://${request.headers.host}/c/${own}`)],
      };
    });
  context.home = await start('home-token');
  context.work = await start('work-token');
  const { path, remove } = temporaryDirectory();
  context.path = path;
  context.remove = remove;
  mkdirSync(join(path, 'snitch'));
  const spool = join(path, 'spool');
  context.env = { XDG_CONFIG_HOME: path, SNITCH_DATA_DIR: join(path, 'none'), SNITCH_SPOOL_DIR: spool };
  context.kept = () => readdirSync(spool).filter((name) => name.endsWith('.json'));
  context.names = (servers, first = '') => {
    const lines = Object.entries(servers).map(([name, text]) => `  ${name}:\n    ${text}\n`);
    writeFileSync(join(path, 'snitch/cli.yaml'), `${first}servers:\n${lines.join('')}`, { mode: 0o600 });
  };
});

test.after.each(async ({ home, work, remove }) => {
  await home.stop();
  await work.stop();
  remove();
});

function snitchAt(check_in_url: string): Record<string, unknown> {
  const empty = { alert_type: 'basic', alert_email: [], notes: '', tags: [], checked_in_at: null };
  const token = check_in_url.split('/').at(-1);
  return {
    ...empty,
    ...{ token, href: '', name: NAME, status: 'healthy', check_in_url },
    ...{ interval: 'daily', type: { interval: 'daily' }, created_at: '2026-01-01T00:00:00.000Z' },
  };
}

function paths({ requests }: FakeServer): string[] {
  return requests.splice(0).map(({ url = '' }) => url.replace(/\?.*/, ''));
}

function keys({ requests }: FakeServer): string[] {
  const sent = requests.map(({ headers: { authorization = '' } }) => authorization.replace('Basic ', ''));
  return [...new Set(sent.filter((one) => one !== '').map((one) => Buffer.from(one, 'base64').toString()))];
}

test('check-ins by token and by name, with another default by then, and other names', async (context) => {
  const { home, work, env, names, kept } = context;
  const settings = {
    home: `url: ${home.url}\n    api_key: k-home`,
    work: `url: ${work.url}\n    api_key: k-work`,
  };
  names(settings, 'server: home\n');
  for (const given of [TOKEN, NAME]) {
    await runSnitch(['exec', given, '--', 'true'], env);
    await runSnitch(['--server', 'work', 'check-in', given], env);
  }
  assert.is(kept().length, 6);
  for (const server of [home, work]) paths(server);
  context.isAway = false;
  names({ cellar: settings.work, elsewhere: settings.home }, 'server: cellar\n');
  const { code, stderr } = await runSnitch(['spool', 'flush'], env);
  assert.is(code, 0, stderr);
  assert.equal([keys(home), keys(work)], [['k-home:'], ['k-work:']]);
  const sentHome = paths(home).filter((path) => path.startsWith('/c/'));
  const sentWork = paths(work).filter((path) => path.startsWith('/c/'));
  const own = (token: string) => [`/c/${token}/start`, `/c/${token}/0`];
  assert.equal(sentHome.sort(), [...own(TOKEN), ...own('home-token')].sort());
  assert.equal(sentWork.sort(), [`/c/${TOKEN}`, '/c/work-token'].sort());
});

test('a server that was removed: what waits keeps waiting, and says for whom', async (context) => {
  const { home, work, env, names, kept, path } = context;
  const keyFile = join(path, 'home.key');
  writeFileSync(keyFile, 'k-home', { mode: 0o600 });
  const other = { work: `url: ${work.url}\n    api_key: k-work` };
  names({ ...other, home: `url: ${home.url}\n    api_key: k-home` }, 'server: home\n');
  await runSnitch(['check-in', NAME], env);
  const asked = await runSnitch(['server', 'remove', 'home'], env);
  assert.is(asked.code, 2);
  context.isAway = false;
  names(other, 'server: work\n');
  for (const server of [home, work]) paths(server);
  const lost = await runSnitch(['spool', 'flush'], env);
  assert.is(lost.code, 5);
  assert.match(lost.stderr, `no API key for ${home.url}`);
  assert.is(kept().length, 1);
  assert.equal([...paths(home), ...paths(work)], []);
  // A file with the key is still there after the server is removed.
  names({ ...other, home: `url: ${home.url}\n    api_key_file: ${keyFile}` }, 'server: home\n');
  context.isAway = true;
  await runSnitch(['check-in', NAME], env);
  context.isAway = false;
  names(other, 'server: work\n');
  assert.is((await runSnitch(['spool', 'flush'], env)).code, 5);
  assert.is(kept().length, 1);
  assert.equal(paths(work), []);
  assert.ok(paths(home).includes('/c/home-token'));
});

test('a server that nobody knew at the time is waited for, and no other one gets its check-ins', async (context) => {
  const { home, work, env, names, kept } = context;
  names({ work: `url: ${work.url}\n    api_key: k-work` });
  for (const given of [TOKEN, NAME]) {
    const { code, stderr } = await runSnitch(['exec', given, '--', 'sh', '-c', 'exit 3'], {
      ...env,
      SNITCH_SERVER: 'home',
    });
    assert.is(code, 3);
    assert.match(stderr, 'there is no server "home"');
  }
  assert.is((await runSnitch(['check-in', TOKEN, '--server', 'home'], env)).code, 2);
  assert.is(kept().length, 4);
  context.isAway = false;
  const waits = await runSnitch(['check-in', TOKEN], env);
  assert.is(waits.code, 0, waits.stderr);
  assert.equal(paths(work), [`/c/${TOKEN}`]);
  assert.is(kept().length, 4);
  const listed = await runSnitch(['spool', 'list', '--json'], env);
  assert.equal(
    (JSON.parse(listed.stdout) as { server: string }[]).map(({ server }) => server),
    Array(4).fill('home'),
  );
  names(
    { work: `url: ${work.url}\n    api_key: k-work`, home: `url: ${home.url}\n    api_key: k-home` },
    'server: work\n',
  );
  assert.is((await runSnitch(['spool', 'flush'], env)).code, 0);
  assert.equal(paths(work), []);
  assert.is(paths(home).filter((path) => path.startsWith('/c/')).length, 4);
});

test('what an older program kept without a server is for the one at the top of the file', async (context) => {
  const { home, work, env, names, path } = context;
  context.isAway = false;
  const kept = {
    version: 2,
    at: new Date().toISOString(),
    base: `${home.url}/c`,
    ...{ token: null, name: NAME, server: null, keyFile: null },
    ...{ suffix: '0', runId: null, message: null, exitStatus: null, output: '' },
  };
  mkdirSync(join(path, 'spool'), { mode: 0o700 });
  writeFileSync(join(path, 'spool', `000001795075330-1-${crypto.randomUUID()}.json`), JSON.stringify(kept));
  const work2 = { work: `url: ${work.url}\n    api_key: k-work` };
  names(work2, `url: ${home.url}\napi_key: k-home\nserver: work\n`);
  const { code, stderr } = await runSnitch(['spool', 'flush'], env);
  assert.is(code, 0, stderr);
  assert.equal(keys(home), ['k-home:']);
  assert.equal(paths(work), []);
});

test('a key in the environment of whoever sends the spool goes to no other server', async (context) => {
  const { home, work, env, names, path, kept } = context;
  rmSync(join(path, 'snitch'), { recursive: true });
  const ofHome = { ...env, SNITCH_URL: home.url, SNITCH_API_KEY: 'k-home' };
  await runSnitch(['check-in', NAME], ofHome);
  const [file = ''] = kept();
  assert.not.match(readFileSync(join(path, 'spool', file), 'utf8'), 'k-home');
  context.isAway = false;
  paths(home);
  mkdirSync(join(path, 'snitch'));
  names({ work: `url: ${work.url}\n    api_key: k-work` });
  const other = await runSnitch(['spool', 'flush'], {
    ...env,
    SNITCH_URL: work.url,
    SNITCH_API_KEY: 'k-work',
  });
  assert.is(other.code, 5);
  assert.equal([...paths(home), ...paths(work)], []);
  assert.is((await runSnitch(['spool', 'flush'], ofHome)).code, 0);
  assert.equal(keys(home), ['k-home:']);
});

test.run();
