/** `snitch spool`: what waits for the server, in whose hands it is, and how it gets there. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Host } from '../exec/exec-process.ts';
import { type FakeServer, fakeServer } from '../fake-server.ts';

interface Context {
  host: Host;
  server: FakeServer;
  /** What the server answers, and whether as the daemon does. */
  status: number;
  headers: Record<string, string>;
  text: string;
}

const TOKEN = 'abcdefghijklmnopqrstuvwxyz';
const DAY = 86_400_000;

const test = suite<Context>('snitch spool');

test.before.each(async (context) => {
  context.host = new Host();
  context.status = 202;
  context.headers = { snitch: '1' };
  context.text = '';
  context.server = await fakeServer((_, response) => {
    setTimeout(() => response.writeHead(context.status, context.headers).end(context.text), 10);
  });
});
test.after.each(async ({ host, server }) => {
  host.remove();
  await server.stop();
});

/** Puts a check-in into the spool as `snitch exec` does, and answers with the name of its file. */
function keep({ host, server }: Context, at: number, changes: Record<string, unknown> = {}): string {
  const name = `${String(at).padStart(15, '0')}-1-${crypto.randomUUID()}.json`;
  const checkIn = {
    version: 1,
    at: new Date(at).toISOString(),
    base: `${server.url}/c`,
    token: TOKEN,
    runId: crypto.randomUUID(),
    suffix: '0',
    message: null,
    exitStatus: null,
    output: '',
    ...changes,
  };
  mkdirSync(host.spool, { recursive: true, mode: 0o700 });
  writeFileSync(join(host.spool, name), JSON.stringify(checkIn));
  return name;
}

/** The times that came with the check-ins, in the order of their arrival. */
function timesSent({ requests }: FakeServer): (string | null)[] {
  return requests.map(({ url = '' }) => new URL(url, 'http://localhost').searchParams.get('at'));
}

test('nobody else can read what waits: a token is a secret', async ({ host }) => {
  assert.is((await host.exec(TOKEN, 'echo secret')).code, 0);
  assert.is(statSync(host.spool).mode & 0o777, 0o700);
  const files = host.kept();
  assert.is(files.length, 2);
  for (const name of files) assert.is(statSync(join(host.spool, name)).mode & 0o777, 0o600);
});

test('a directory that others use too stays as it is, and what they put there is never sent', async (context) => {
  const { host } = context;
  mkdirSync(host.spool);
  for (const [before, after] of [
    [0o1777, 0o1777],
    [0o755, 0o755],
    [0o777, 0o700],
  ] as const) {
    chmodSync(host.spool, before);
    assert.is((await host.exec(TOKEN, 'echo secret')).code, 0);
    assert.is(statSync(host.spool).mode & 0o7777, after);
  }
  assert.is(host.kept().length, 6);
  chmodSync(host.spool, 0o1777);
  const planted = keep(context, Date.now(), { message: 'planted' });
  // Only root can make a file that belongs to somebody else.
  if (process.getuid?.() === 0) chownSync(join(host.spool, planted), 1234, 1234);
  else rmSync(join(host.spool, planted));
  const listed = await host.run(['spool', 'list', '-q']);
  assert.is(listed.stdout.trimEnd().split('\n').length, 6, listed.stdout);
});

test('where it is', async ({ host }) => {
  const state = join(host.path, 'state');
  const places: [NodeJS.ProcessEnv, string][] = [
    [{ STATE_DIRECTORY: join(host.path, 'unit'), XDG_STATE_HOME: state }, join(host.path, 'unit', 'spool')],
    [{ XDG_STATE_HOME: state }, join(state, 'snitch', 'spool')],
    [{}, join(host.path, '.local/state/snitch/spool')],
  ];
  for (const [env, place] of places) {
    await host.exec(TOKEN, 'true', { env: { SNITCH_SPOOL_DIR: '', ...env } });
    assert.is(readdirSync(place).length, 2, place);
  }
});

test('list shows what waits, and of a token only its beginning', async (context) => {
  const { host, server } = context;
  keep(context, Date.parse('2026-01-02T00:00:00Z'), { suffix: '3', message: 'a\u001b[2Jb' });
  keep(context, Date.parse('2026-01-01T00:00:00Z'), { suffix: 'start', base: null });
  const table = await host.run(['spool', 'list']);
  assert.is(table.code, 0);
  assert.match(
    table.stdout,
    /2026-01-01T00:00:00.000Z +start +abcd\.\.\..*\n2026-01-02T00:00:00.000Z +exit 3 +abcd\.\.\./,
  );
  const { stdout } = await host.run(['spool', 'list', '--json']);
  const [first, second] = JSON.parse(stdout) as Record<string, unknown>[];
  assert.equal([first!.kind, first!.token, first!.server], ['start', 'abcd...', null]);
  assert.equal([second!.kind, second!.server, second!.message], ['3', `${server.url}/c`, 'a\u001b[2Jb']);
  for (const text of [table.stdout, stdout]) {
    assert.not.match(text, TOKEN);
    assert.not.match(text, '\u001b');
  }
});

test('an empty spool is no error', async ({ host }) => {
  assert.equal(await host.run(['spool', 'list', '--json']), {
    code: 0,
    signal: null,
    stdout: '[]\n',
    stderr: '',
  });
  assert.equal((await host.run(['spool', 'flush'])).code, 0);
  assert.equal((await host.run(['spool', 'flush', '-q'])).stderr, '');
});

test('flush sends the oldest first, each with its time', async (context) => {
  const { host, server } = context;
  const now = Date.now();
  const times = [3, 1, 2].map((days) => now - days * DAY);
  for (const at of times) keep(context, at);
  const { code, stdout, stderr } = await host.run(['spool', 'flush']);
  assert.equal([code, stdout, stderr], [0, '', 'sent 3\n']);
  assert.equal(
    timesSent(server),
    times.sort().map((at) => new Date(at).toISOString()),
  );
  assert.equal(host.kept(), []);
});

test('what was kept without an address goes to the server that is known by now', async (context) => {
  const { host, server } = context;
  keep(context, Date.now() - DAY, { base: null });
  assert.is((await host.run(['spool', 'flush', '--url', server.url])).code, 0);
  assert.match(server.requests[0]!.url!, `/c/${TOKEN}/0?`);
});

test('one server that is away keeps nobody else waiting', async (context) => {
  const { host, server } = context;
  for (const days of [5, 4]) keep(context, Date.now() - days * DAY, { base: 'http://127.0.0.1:1/c' });
  keep(context, Date.now() - DAY);
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 5);
  assert.is(stderr, 'snitch: cannot reach http://127.0.0.1:1/c: ECONNREFUSED\nsnitch: sent 1, 2 wait on\n');
  assert.is(server.requests.length, 1);
  assert.is(host.kept().length, 2);
});

test('flushes at once send everything, and nothing twice', async (context) => {
  const { host, server } = context;
  const now = Date.now();
  for (let minute = 1; minute <= 60; minute += 1) keep(context, now - minute * 60_000);
  const results = await Promise.all([1, 2, 3].map(() => host.run(['spool', 'flush'])));
  assert.equal(
    results.map(({ code }) => code),
    [0, 0, 0],
  );
  const sent = timesSent(server);
  assert.is(sent.length, 60);
  assert.is(new Set(sent).size, 60);
  assert.equal(host.kept(), []);
});

test('what a killed process held is sent; what a living one holds is left to it', async (context) => {
  const { host, server } = context;
  const { pid: dead } = spawnSync('true');
  const states = [`${dead}.sending`, `${dead}.tmp`, `${process.pid}.sending`];
  for (const [index, state] of states.entries()) {
    const name = keep(context, Date.now() - (index + 1) * DAY);
    renameSync(join(host.spool, name), join(host.spool, `${name}.${state}`));
  }
  assert.is((await host.run(['spool', 'flush'])).code, 0);
  assert.is(server.requests.length, 2);
  assert.is(host.kept().length, 1);
  assert.match(host.kept()[0]!, `.${process.pid}.sending`);
});

test('files that cannot be used are set aside and named, and hold up nothing', async (context) => {
  const { host, server } = context;
  const whole = keep(context, Date.now() - 2 * DAY);
  const text = readFileSync(join(host.spool, whole), 'utf8');
  const broken = [
    text.slice(0, 40),
    '',
    'null',
    text.replace('"version":1', '"version":9'),
    text.replace('"0"', '"x"'),
  ];
  const names = broken.map((content) => {
    const name = keep(context, Date.now() - 3 * DAY);
    writeFileSync(join(host.spool, name), content);
    return name;
  });
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 1);
  for (const name of names) assert.match(stderr, join(host.spool, 'unusable', name));
  assert.is(server.requests.length, 1);
  assert.equal(host.kept(), ['unusable']);
  assert.equal(readdirSync(join(host.spool, 'unusable')).sort(), names.sort());
  assert.match((await host.run(['spool', 'list'])).stderr, '5 unusable files are in');
});

/** The names of the files that were set aside because no server will accept them. */
function refused({ host }: Context): string[] {
  return host.kept().includes('refused') ? readdirSync(join(host.spool, 'refused')).sort() : [];
}

test('what no server would take at its own time any more is set aside, and that is said', async (context) => {
  const { host, server } = context;
  const old = keep(context, Date.now() - 7 * DAY);
  keep(context, Date.now() - 6.9 * DAY);
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 1);
  assert.match(stderr, /the check-in of abcd\.\.\. at \S+ was kept for 7 days and is set aside/);
  assert.is(server.requests.length, 1);
  assert.equal([refused(context), host.kept()], [[old], ['refused']]);
});

test('who has 5,000 refused check-ins set aside is told that more cost the oldest', async (context) => {
  const { host, server } = context;
  context.status = 404;
  const name = keep(context, Date.now() - DAY);
  const aside = join(host.spool, 'refused');
  mkdirSync(aside);
  const text = readFileSync(join(host.spool, name));
  for (let index = 0; index < 5_000; index += 1) {
    writeFileSync(join(aside, `${String(index).padStart(15, '0')}-1-${crypto.randomUUID()}.json`), text);
  }
  const flushed = await host.run(['spool', 'flush']);
  assert.is(flushed.code, 1);
  assert.match(flushed.stderr, 'too many refused check-ins are set aside: the oldest of them is deleted');
  const job = await host.exec(TOKEN, 'true', { env: { SNITCH_URL: server.url } });
  assert.match(job.stderr, 'too many refused check-ins are set aside: the 2 oldest of them are deleted');
  assert.is(refused(context).length, 5_000);
});

test('what the daemon itself refuses is set aside, listed, sent again or dropped', async (context) => {
  const { host, server } = context;
  context.status = 404;
  const name = keep(context, Date.now() - DAY, { suffix: '3' });
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 1);
  assert.match(
    stderr,
    /the check-in of abcd\.\.\. at \S+ is set aside: no snitch has the token abcd\.\.\. at http/,
  );
  assert.not.match(stderr, TOKEN);
  assert.equal([host.kept(), refused(context)], [['refused'], [name]]);
  assert.is(statSync(join(host.spool, 'refused', name)).mode & 0o777, 0o600);

  const listed = await host.run(['spool', 'list', '--json']);
  const [found] = JSON.parse(listed.stdout) as Record<string, unknown>[];
  assert.equal([found!.state, found!.kind, found!.file], ['refused', '3', name]);
  assert.match(String(found!.reason), 'no snitch has the token abcd...');
  assert.match(listed.stderr, '1 refused: `snitch spool retry` sends them again');
  assert.is((await host.run(['spool', 'flush'])).code, 0, 'it is not sent again by itself');
  assert.is(server.requests.length, 1);

  assert.is((await host.run(['spool', 'retry', 'gone.json'])).code, 3);
  assert.is((await host.run(['spool', 'retry'])).code, 1);
  assert.equal(refused(context), [name]);
  context.status = 200;
  assert.is((await host.run(['spool', 'retry', name])).code, 0);
  assert.is(server.requests.length, 3);
  assert.match(server.requests[2]!.url!, `/c/${TOKEN}/3?`);
  assert.equal([host.kept(), refused(context)], [['refused'], []]);

  context.status = 404;
  keep(context, Date.now() - DAY);
  await host.run(['spool', 'flush']);
  assert.is((await host.run(['spool', 'drop'])).code, 2);
  assert.is(refused(context).length, 1);
  assert.equal([(await host.run(['spool', 'drop', '--all'])).code, refused(context)], [0, []]);
});

test('a 404 that is not the daemon’s keeps everything, and holds up no other snitch', async (context) => {
  const { host, server } = context;
  context.status = 404;
  context.headers = {};
  for (const days of [3, 2]) keep(context, Date.now() - days * DAY);
  keep(context, Date.now() - DAY, { token: 'another-snitch' });
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 5);
  assert.match(stderr, 'answered with status 404, and not as a snitch server\nsnitch: sent 0, 3 wait on\n');
  assert.is(server.requests.length, 2, 'each snitch is asked for once');
  assert.equal([host.kept().length, refused(context)], [3, []]);
  context.status = 202;
  assert.is((await host.run(['spool', 'flush'])).code, 5, 'whoever answered may accept anything');
  context.text = 'Got it, thanks!\n';
  assert.is((await host.run(['spool', 'flush'])).code, 0, 'an older daemon has no header');
  assert.equal(host.kept(), []);
});

test('a portal that answers everything with a page has recorded nothing', async (context) => {
  const { host, server } = context;
  const portal = await fakeServer((_, response) =>
    response.end('<html>Please log in to this network</html>'),
  );
  try {
    const name = keep(context, Date.now() - DAY, { base: `${portal.url}/c` });
    const { code, stderr } = await host.run(['spool', 'flush']);
    assert.is(code, 5);
    assert.match(stderr, /what answers at \S+ with status 200 is not a snitch server/);
    assert.equal(host.kept(), [name]);
  } finally {
    await portal.stop();
  }
  const words = await fakeServer((_, response) => response.end('OK'));
  try {
    keep(context, Date.now() - DAY, { base: `${words.url}/c` });
    await host.run(['spool', 'flush']);
    assert.is(words.requests.length, 1);
    assert.is(host.kept().length, 1, 'another server of the kind says OK');
  } finally {
    await words.stop();
  }
  assert.is(server.requests.length, 0);
});

test('a server that breaks down is tried once, and everything waits on', async (context) => {
  const { host, server } = context;
  context.status = 503;
  for (const days of [3, 2, 1]) keep(context, Date.now() - days * DAY);
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 5);
  assert.match(stderr, /answered with status 503\nsnitch: sent 0, 3 wait on\n$/);
  assert.is(server.requests.length, 1);
  assert.is(host.kept().length, 3);
});

test('a run sends what waits, after its own, in silence', async (context) => {
  const { host, server } = context;
  host.url = server.url;
  keep(context, Date.now() - DAY, { suffix: '4' });
  const { code, stderr } = await host.exec(TOKEN, 'true');
  assert.equal([code, stderr], [0, '']);
  assert.equal(
    server.requests.map(({ url = '' }) => url.replace(/\?.*/, '').slice(`/c/${TOKEN}/`.length)),
    ['start', '0', '4'],
  );
  assert.equal(host.kept(), []);
});

test('a spool that is full drops its oldest, and says so', async (context) => {
  const { host } = context;
  for (let count = 0; count < 5_000; count += 1) keep(context, Date.now() - DAY + count);
  const { code, stderr } = await host.exec(TOKEN, 'exit 3');
  assert.is(code, 3);
  assert.match(stderr, 'the spool is full: its 2 oldest check-ins are dropped');
  assert.is(host.kept().length, 5_000);
});

test('flush answers for a directory that cannot be read', async ({ host }) => {
  writeFileSync(join(host.path, 'file'), '');
  const env = { SNITCH_SPOOL_DIR: join(host.path, 'file') };
  const { code, stderr } = await host.run(['spool', 'flush'], { env });
  assert.is(code, 1);
  assert.match(stderr, /^snitch: [^\n]*ENOTDIR[^\n]*\n$/);
});

test.run();
