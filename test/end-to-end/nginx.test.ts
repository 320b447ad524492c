/**
 * What docs/reverse-proxy.md says is true: its nginx example, its settings, and the real daemon behind them.
 * Time limit: 120 s.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { ending } from '../closing.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { type Asked, CLIENT, documentedBlock, HOST, Nginx, PATIENCE, withoutTools } from './nginx-process.ts';

interface Context {
  root: string;
  daemon: DaemonProcess;
  nginx: Nginx;
}

/** The daemon, configured as the page says. */
async function startDaemon(root: string, listen: string): Promise<DaemonProcess> {
  const file = join(root, 'config.yaml');
  writeFileSync(file, documentedBlock('yaml'));
  return startProcess({
    dataDir: join(root, 'data'),
    env: { SNITCH_CONFIG: file, SNITCH_LISTEN: listen },
  });
}

async function start(context: Context, listenOn: (root: string) => string): Promise<void> {
  context.root = newDataDir();
  context.daemon = await startDaemon(context.root, listenOn(context.root));
  context.nginx = await Nginx.start(context.root, context.daemon.url.replace('http://', ''));
}

/** Ends what was started, even where not all was. */
async function stop({ root, daemon, nginx }: Partial<Context>): Promise<void> {
  await nginx?.end();
  await daemon?.end('SIGKILL');
  if (root) removeDataDir(root);
}

function withKey({ apiKey }: DaemonProcess): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` };
}

async function api<T>({ daemon, nginx }: Context, method: string, path: string, body?: unknown): Promise<T> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await nginx.ask(method, path, { headers: withKey(daemon), ...json });
  assert.is(answer.status, 200, answer.text);
  return JSON.parse(answer.text) as T;
}

async function newSnitch(context: Context, tags: string[] = []): Promise<WireSnitch> {
  return api(context, 'POST', '/v1/snitches', { name: 'nightly-backup', interval: 'daily', tags });
}

async function history(context: Context, { href }: WireSnitch): Promise<WireCheckIn[]> {
  return api(context, 'GET', `${href}/check_ins`);
}

const test = suite<Context>('the nginx example');

test.before((context) => start(context, () => '127.0.0.1:0'));
test.after(stop);

test('the API answers, and names the address that clients use', async (context) => {
  const snitch = await newSnitch(context);
  assert.is(snitch.check_in_url, `https://${HOST}/c/${snitch.token}`);
  const listed = await api<WireSnitch[]>(context, 'GET', '/v1/snitches');
  assert.equal(
    listed.find(({ token }) => token === snitch.token),
    snitch,
  );
  assert.is((await context.nginx.ask('GET', '/v1/snitches')).status, 401);
  const large = { body: ' '.repeat(100 * 1024) };
  assert.is((await context.nginx.ask('POST', '/v1/snitches', large)).status, 413);
});

test('every way to check in counts, with the address of the client', async (context) => {
  const snitch = await newSnitch(context);
  const forged = { 'x-forwarded-for': '203.0.113.9' };
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    assert.is(
      (await context.nginx.ask(method, `/c/${snitch.token}`, { headers: forged })).status,
      202,
      method,
    );
  }
  const sources = (await history(context, snitch)).map(({ source }) => source);
  assert.equal(sources, Array(4).fill(CLIENT));
});

test('a check-in counts, however much it says', async (context) => {
  const snitch = await newSnitch(context);
  const ask = (asked: Asked, query = '') => context.nginx.ask('POST', `/c/${snitch.token}${query}`, asked);
  assert.is((await ask({ body: 'line\n'.repeat(20 * 1024) })).status, 202);
  assert.is((await ask({ body: 'line\n'.repeat(1024 * 1024) })).status, 202);
  const chunked = { 'transfer-encoding': 'chunked' };
  assert.is((await ask({ body: 'line\n'.repeat(20 * 1024), headers: chunked })).status, 202);
  assert.is((await ask({}, `?m=${'long'.repeat(3 * 1024)}`)).status, 202);
  assert.is((await ask({ body: 's=1&m=disk+full' })).status, 202);
  const [last, ...others] = await history(context, snitch);
  assert.is(last?.message, 'disk full');
  assert.is(others.length, 4);
});

test('a tag arrives as it was encoded', async (context) => {
  const { href } = await newSnitch(context, ['a/b', 'two words', 'c%2Fd', '../e']);
  const remove = (tag: string) => api<string[]>(context, 'DELETE', `${href}/tags/${tag}`);
  assert.equal(await remove('a%2Fb'), ['two words', 'c%2Fd', '../e']);
  assert.equal(await remove('two%20words'), ['c%2Fd', '../e']);
  assert.equal(await remove('c%252Fd'), ['../e']);
  assert.equal(await remove('..%2Fe'), []);
});

test('an event arrives while the stream is open', async (context) => {
  const snitch = await newSnitch(context);
  const opened = await context.nginx.open('GET', '/v1/stream', { headers: withKey(context.daemon) });
  await using stream = ending(opened, () => opened.destroy());
  const chunks = stream.setEncoding('utf8')[Symbol.asyncIterator]();
  await upTo(chunks, 'event: reset');
  await context.nginx.ask('GET', `/c/${snitch.token}`);
  assert.match(await upTo(chunks, 'event: informed'), '"status":"healthy"');
  assert.not(stream.complete);
});

/** Reads until this text has come. */
async function upTo(chunks: AsyncIterator<string>, awaited: string): Promise<string> {
  let came = '';
  while (!came.includes(awaited)) {
    const { value, done } = await chunks.next();
    assert.not(done, `it ended after: ${came}`);
    came += value;
  }
  return came;
}

test('metrics are shown to this host alone', async ({ daemon, nginx }) => {
  for (const path of ['/metrics', '/metrics/', '/metrics?x=1', '/%6detrics', '//metrics', '/x/../metrics']) {
    const answer = await nginx.ask('GET', path);
    assert.is(answer.status, 404, path);
    assert.not.match(answer.text, 'snitch_check_ins_total');
  }
  assert.is((await fetch(`${daemon.url}/metrics`)).status, 200);
  const forwarded = { headers: { 'x-forwarded-for': '192.0.2.1' } };
  assert.is((await fetch(`${daemon.url}/metrics`, forwarded)).status, 404);
});

test('plain HTTP leads to HTTPS, and keeps method, path and query', async ({ nginx }) => {
  const answer = await nginx.ask('POST', '/c/token?m=a%2Fb', { plain: true, body: 's=1' });
  assert.is(answer.status, 308);
  assert.is(answer.headers.location, `https://${HOST}/c/token?m=a%2Fb`);
});

/** Checks in until the daemon answers again; nothing but nginx may answer in its place. */
async function untilBack(nginx: Nginx, path: string): Promise<void> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const { status } = await nginx.ask('POST', path, { body: 'm=after' });
    if (status === 202) return;
    assert.is(status, 502);
    assert.ok(Date.now() < end, 'the daemon does not come back');
    await sleep(50);
  }
}

const restarted = suite<Context>('the nginx example over a restart');
restarted.after.each(stop);

const UPSTREAMS: [string, (root: string) => string][] = [
  ['a port', () => '127.0.0.1:0'],
  ['a socket file', (root) => `unix:${join(root, 'snitch.sock')}`],
];

for (const [name, listenOn] of UPSTREAMS) {
  restarted(`on ${name}: 502 while the daemon is away, and no log learns a token`, async (context) => {
    await start(context, listenOn);
    const { nginx, root, daemon } = context;
    const snitch = await newSnitch(context);
    const path = `/c/${snitch.token}`;
    assert.is((await nginx.ask('POST', path, { body: 'm=before' })).status, 202);
    assert.is((await nginx.ask('POST', path, { plain: true })).status, 308);
    const stream = await nginx.open('GET', '/v1/stream', { headers: withKey(daemon) });
    const streamed = text(stream);
    await daemon.end();
    assert.match(await streamed, 'event: reset');
    assert.is((await nginx.ask('POST', path, { body: 'm=lost' })).status, 502);
    assert.is((await nginx.ask('GET', snitch.href)).status, 502);
    context.daemon = await startDaemon(root, daemon.url.replace('http://', ''));
    await untilBack(nginx, path);
    const kept = (await history(context, snitch)).map(({ message, source }) => ({ message, source }));
    assert.equal(kept, [
      { message: 'after', source: CLIENT },
      { message: 'before', source: CLIENT },
    ]);
    const logs = await nginx.end();
    for (const [file, log] of logs) assert.not.match(log, snitch.token, file);
    const answers = [...(logs.get('snitch.log') ?? '').matchAll(/\] (\w+ \d+) /g)].map(
      ([, answer]) => answer,
    );
    for (const answer of ['POST 202', 'POST 308', 'POST 502', 'GET 502']) assert.ok(answers.includes(answer));
  });
}

runUnless(withoutTools(), test, 'the nginx example');
runUnless(withoutTools(), restarted, 'nginx while the daemon restarts');
