/**
 * `snitch exec` and a server that is away, slow or broken: the job is untouched, and no check-in is lost.
 * Time limit: 120 s.
 */
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../../src/api/wire.ts';
import { ownDirectory } from '../../data-directory.ts';
import type { DaemonProcess } from '../../end-to-end/daemon-process.ts';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';
import { Door } from '../door.ts';
import { fakeServer } from '../fake-server.ts';
import { checkIns, type Host, type Jobs, newSnitch, outcomes, startOn, withJobs } from './exec-process.ts';

interface Context extends Jobs {
  /** The address of the daemon of all tests, until it is closed. */
  door: Door;
}

const test = suite<Context>('snitch exec: servers');

withJobs(test);
test.before.each(async (context) => {
  context.door = await Door.before(context.daemon.url);
  context.host.url = context.door.url;
});
test.after.each(({ door }) => door.shut());

async function flushAll({ host }: Context): Promise<void> {
  const { code, stderr } = await host.run(['spool', 'flush']);
  assert.is(code, 0, stderr);
  assert.equal(host.kept(), []);
}

const KEPT = /^snitch: cannot reach http:\S+: ECONNREFUSED\nsnitch: the check-in is kept;[^\n]+\n$/;

/** A job that ends on request. */
function waitingJob(host: Host, code: number): { command: string; end: () => void } {
  const flag = join(host.path, 'go-on');
  return {
    command: `echo ready; until [ -e ${flag} ]; do sleep 0.05; done; echo done; exit ${code}`,
    end: () => writeFileSync(flag, ''),
  };
}

test('down from start to end: sent later, at its own time, with its duration', async (context) => {
  const { door, host, token } = context;
  await door.shut();
  const before = Date.now();
  const { code, stdout, stderr } = await host.exec(token, 'echo out; sleep 0.3; exit 6');
  const after = Date.now();
  assert.equal([code, stdout], [6, 'out\n']);
  assert.match(stderr, KEPT);
  assert.is(host.kept().length, 2);
  // Only a check-in that is more than two seconds old is sent with its time.
  await until(() => Date.now() - after > 2_100);
  await context.door.open();
  await flushAll(context);
  assert.equal(await outcomes(context.daemon, token), [
    ['start', null, null],
    ['error', 6, null],
  ]);
  const [start, end] = await checkIns(context.daemon, token);
  for (const { at } of [start!, end!]) assert.ok(Date.parse(at) >= before && Date.parse(at) <= after, at);
  assert.is(end!.duration_ms, Date.parse(end!.at) - Date.parse(start!.at));
  assert.is(end!.output, 'out\n');
});

test('down at the start, back at the end: nothing waits, nothing is said', async (context) => {
  const { host, token } = context;
  await context.door.shut();
  const job = waitingJob(host, 0);
  const running = host.start(['exec', token, '--', 'sh', '-c', job.command]);
  await running.printed('ready');
  await until(() => host.kept().some((name) => name.endsWith('.json')));
  await context.door.open();
  job.end();
  const { code, stdout, stderr } = await running.ended();
  assert.equal([code, stdout, stderr], [0, 'ready\ndone\n', '']);
  assert.equal(host.kept(), []);
  assert.equal(await outcomes(context.daemon, token), [
    ['start', null, null],
    ['healthy', 0, null],
  ]);
  assert.ok((await checkIns(context.daemon, token)).at(-1)!.duration_ms !== null);
});

test('there at the start, down at the end; the next run sends it', async (context) => {
  const { daemon, door, host, token } = context;
  const job = waitingJob(host, 9);
  const running = host.start(['exec', token, '--', 'sh', '-c', job.command]);
  await running.printed('ready');
  await until(async () => (await checkIns(daemon, token)).length === 1);
  await until(() => !door.isUsed, 'the job’s side has its answer');
  await door.shut();
  job.end();
  const { code, stderr } = await running.ended();
  assert.is(code, 9);
  assert.match(stderr, KEPT);
  await context.door.open();
  const next = await host.exec(token, 'exit 0');
  assert.equal([next.code, next.stderr], [0, '']);
  assert.equal(host.kept(), []);
  const found = await checkIns(context.daemon, token);
  assert.equal(found.map(({ outcome }) => outcome).sort(), ['error', 'healthy', 'start', 'start']);
  assert.ok(found.every(({ outcome, duration_ms }) => outcome === 'start' || duration_ms !== null));
});

test('a restart while the job runs is not noticed', async ({ host }) => {
  using directory = ownDirectory();
  const port = await freePort();
  await using first = await startOn(port, directory.path);
  const token = await newSnitch(first);
  host.url = first.url;
  const job = waitingJob(host, 2);
  const running = host.start(['exec', token, '--', 'sh', '-c', job.command]);
  await running.printed('ready');
  await until(async () => (await checkIns(first, token)).length === 1);
  await first.end();
  await using second = await startOn(port, directory.path);
  job.end();
  const { code, stderr } = await running.ended();
  assert.equal([code, stderr], [2, '']);
  assert.equal(await outcomes(second, token), [
    ['start', null, null],
    ['error', 2, null],
  ]);
});

test('an alarm that was raised while the check-in waited is undone', async (context) => {
  const { host, token } = context;
  await context.door.shut();
  assert.is((await host.exec(token, 'exit 0')).code, 0);
  const keptAt = Date.now();
  await until(() => Date.now() - keptAt > 2_100);
  await context.door.open();
  const { daemon } = context;
  // As if a job that runs every minute had last checked in long before the check-in that waits.
  const edited = await daemon.call('PATCH', `/v1/snitches/${token}`, { interval: '1_minute' });
  assert.is(edited.status, 200);
  const earlier = new Date(keptAt - 600_000).toISOString();
  assert.is((await fetch(`${daemon.url}/c/${token}?at=${earlier}`)).status, 202);
  await until(async () => (await statusOf(daemon, token)) === 'failed');
  await flushAll(context);
  assert.is(await statusOf(daemon, token), 'healthy');
  const alerts = (await (await daemon.call('GET', `/v1/snitches/${token}/alerts`)).json()) as WireAlert[];
  assert.equal(alerts.map(({ type, snitch }) => `${type} from ${snitch?.previous_status}`).slice(0, 2), [
    'snitch.reporting from missing',
    'snitch.missing from healthy',
  ]);
});

async function statusOf(daemon: DaemonProcess, token: string): Promise<string> {
  const answer = await daemon.call('GET', `/v1/snitches/${token}`);
  return ((await answer.json()) as WireSnitch).status;
}

test('a server that hangs does not delay the job, and what follows it only for a bounded time', async (context) => {
  const { daemon, host, token } = context;
  await using hanging = await fakeServer(() => {});
  const port = Number(new URL(hanging.url).port);
  host.url = hanging.url;
  const running = host.start(['exec', token, '--', 'sh', '-c', 'echo done; exit 8']);
  await running.printed('done');
  const { code, stdout, stderr } = await running.ended();
  await hanging.stop();
  assert.equal([code, stdout], [8, 'done\n']);
  assert.match(stderr, /no answer in time\nsnitch: the check-in is kept/);
  await forwardTo(daemon, port, () => flushAll(context));
  const found = await outcomes(daemon, token);
  assert.equal(found.at(-1), ['error', 8, null]);
});

/** Asserts that what was spooled for an address is sent there once the real server listens on it. */
async function forwardTo(daemon: DaemonProcess, port: number, work: () => Promise<void>): Promise<void> {
  const { createServer, request } = await import('node:http');
  const proxy: Server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    incoming.pipe(
      request(`${daemon.url}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500);
        answer.pipe(outgoing);
      }),
    );
  }).listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    await work();
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
}

test('answers of 500, 503, 429, a redirect and a foreign 404 keep the check-in; our own 404 sets it aside', async (context) => {
  const { host, token } = context;
  for (const status of [500, 503, 429, 301, 404]) {
    await using broken = await fakeServer((_, response) => response.writeHead(status).end('<html>'));
    host.url = broken.url;
    const { code, stderr } = await host.exec(token, 'exit 11');
    assert.is(code, 11);
    assert.match(stderr, new RegExp(`answered with status ${status}[^\n]*\nsnitch: the check-in is kept`));
  }
  assert.is(host.kept().length, 10);
  host.url = context.daemon.url;
  const { code, stderr } = await host.exec('nobody-has-this-token', 'exit 12');
  assert.is(code, 12);
  assert.match(stderr, /no snitch has the token nobo\.\.\. at [^\n]+\nsnitch: the check-in is set aside/);
  assert.not.match(stderr, /nobody-has-this-token/);
  assert.equal(readdirSync(join(host.spool, 'refused')).length, 2);
  assert.is(host.kept().length, 11);
});

test('a 202 from another program keeps the check-in; one from an older server without the header counts', async ({
  host,
  token,
}) => {
  const foreign = ['', '{"status":"queued"}', '<html>Please log in</html>'];
  for (const body of foreign) {
    await using other = await fakeServer((_, response) => response.writeHead(202).end(body));
    host.url = other.url;
    const { code, stderr } = await host.run(['check-in', token], { env: { SNITCH_URL: other.url } });
    assert.match(stderr, /with status 202 is not a snitch server/, body);
    assert.is(code, 5);
  }
  const kept = host.kept().length;
  await using old = await fakeServer((_, response) => response.writeHead(202).end('Got it, thanks!\n'));
  host.url = old.url;
  const { code, stderr } = await host.exec(token, 'exit 0');
  assert.equal([code, stderr, host.kept().length], [0, '', kept]);
});

test('neither a server that drops connections nor a full disk affects the job', async (context) => {
  const { host, token } = context;
  await using rude = await fakeServer((request) => request.socket.destroy());
  host.url = rude.url;
  writeFileSync(join(host.path, 'file'), '');
  const env = { SNITCH_SPOOL_DIR: join(host.path, 'file', 'spool') };
  const { code, stdout, stderr } = await host.exec(token, 'echo out; exit 13', { env });
  assert.equal([code, stdout], [13, 'out\n']);
  assert.match(
    stderr,
    /the check-in is lost: it cannot be kept in \S+: ENOTDIR\nsnitch: set SNITCH_SPOOL_DIR to .*\n$/,
  );
});

test('a broken configuration file does not keep the job from running', async (context) => {
  const { host, token } = context;
  const directory = join(host.path, '.config', 'snitch');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'cli.yaml'), 'url: [\n');
  const { code, stdout, stderr } = await host.exec(token, 'echo ran; exit 14');
  assert.equal([code, stdout], [14, 'ran\n']);
  assert.match(stderr, /cli\.yaml: line 1 [^\n]+\nsnitch: the check-in is kept/);
  assert.not.equal(host.kept(), []);
  writeFileSync(join(directory, 'cli.yaml'), '');
  await flushAll(context);
  assert.equal((await outcomes(context.daemon, token)).at(-1), ['error', 14, null]);
});

test('an empty address is ignored: a job checks in at its usual server', async ({ host, daemon }) => {
  const token = await newSnitch(daemon);
  for (const args of [
    ['exec', '--url', '', token, '--', 'true'],
    ['check-in', '--url', '', token],
  ]) {
    const before = (await checkIns(daemon, token)).length;
    const job = await host.run(args);
    assert.equal([job.code, job.stderr], [0, '']);
    assert.ok((await checkIns(daemon, token)).length > before, 'it was recorded');
  }
});

test('killed while it waits for the server: the next run sends its check-in', async (context) => {
  const { daemon, host, token } = context;
  await using hanging = await fakeServer(() => {});
  const port = Number(new URL(hanging.url).port);
  host.url = hanging.url;
  const running = host.start(['exec', token, '--', 'sh', '-c', 'exit 15']);
  await until(() => host.kept().filter((name) => name.endsWith('.sending')).length === 2);
  process.kill(running.pid, 'SIGKILL');
  await running.ended();
  await hanging.stop();
  host.url = daemon.url;
  await forwardTo(daemon, port, () => flushAll(context));
  assert.equal(await outcomes(daemon, token), [
    ['start', null, null],
    ['error', 15, null],
  ]);
});

test('values wait on the disk with their check-in', async (context) => {
  const { door, host, token } = context;
  await door.shut();
  const job = ['--', 'sh', '-c', 'true'];
  assert.is((await host.run(['exec', '--value', 'bytes=sleep 1; echo 11', token, ...job])).code, 0);
  assert.is((await host.run(['check-in', token, '-v', 'bytes=12'])).code, 5);
  await context.door.open();
  await flushAll(context);
  const told = (await checkIns(context.daemon, token)).map(({ outcome, values }) => [outcome, values]);
  assert.equal(told, [
    ['start', null],
    ['healthy', { bytes: 11 }],
    ['healthy', { bytes: 12 }],
  ]);
});

test.run();
