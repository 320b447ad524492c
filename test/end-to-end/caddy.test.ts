/**
 * What docs/reverse-proxy.md says about Caddy is true: its example, unchanged, in a real Caddy in front of the real daemon.
 * Time limit: 120 s.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { freePort } from '../free-port.ts';
import { runUnless } from '../skipped.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import {
  type Answer,
  type Asked,
  adapt,
  CLIENT,
  documentedBlock,
  HOST,
  listening,
  makeCertificate,
  openThrough,
  withoutTools,
} from './nginx-process.ts';

interface Context {
  root: string;
  daemon: DaemonProcess;
  caddy: ChildProcess;
  /** What Caddy has logged. */
  log(): string;
  startDaemon(): Promise<DaemonProcess>;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
}

/** Replaces what only a host on the internet has: its ports, and a signed certificate for its name. */
function adapted(listen: string, secure: number): string {
  return adapt(documentedBlock('caddy'), {
    '{\n\tlog {': '{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {',
    [`${HOST} {`]: `https://${HOST}:${secure} {\n\tbind 127.0.0.1\n\ttls certificate.pem key.pem`,
    '127.0.0.1:7676': listen,
  });
}

const test = suite<Context>('the Caddy example');

test.before(async (context) => {
  const root = newDataDir();
  const directory = join(root, 'caddy');
  mkdirSync(directory);
  makeCertificate(directory);
  const config = join(root, 'config.yaml');
  writeFileSync(config, documentedBlock('yaml'));
  // It restarts on the address that Caddy forwards to.
  const [secure, listen] = [await freePort(), `127.0.0.1:${await freePort()}`];
  const env = { SNITCH_CONFIG: config, SNITCH_LISTEN: listen };
  const startDaemon = () => startProcess({ dataDir: join(root, 'data'), env });
  Object.assign(context, { root, startDaemon, daemon: await startDaemon() });
  writeFileSync(join(directory, 'Caddyfile'), adapted(listen, secure));
  let logged = '';
  const caddy = spawn('caddy', ['run', '--config', 'Caddyfile'], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  caddy.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    logged += chunk;
  });
  const log = () => logged;
  const ask = async (method: string, path: string, asked: Asked = {}) => {
    const response = await openThrough([secure, secure], directory, { ...asked, method, path });
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };
  Object.assign(context, { caddy, log, ask });
  await listening(caddy, secure, log);
});

test.after(async ({ root, daemon, caddy }: Partial<Context>) => {
  if (caddy && caddy.exitCode === null) {
    caddy.kill('SIGKILL');
    await once(caddy, 'close');
  }
  await daemon?.end('SIGKILL');
  if (root) removeDataDir(root);
});

async function newSnitch({ daemon }: Context): Promise<WireSnitch> {
  const answer = await daemon.call('POST', '/v1/snitches', { name: 'nightly-backup', interval: 'daily' });
  return (await answer.json()) as WireSnitch;
}

async function history({ daemon }: Context, { href }: WireSnitch): Promise<WireCheckIn[]> {
  return (await (await daemon.call('GET', `${href}/check_ins`)).json()) as WireCheckIn[];
}

test('a check-in counts, with the address of the client and not the one that it claims', async (context) => {
  const snitch = await newSnitch(context);
  assert.is(snitch.check_in_url, `https://${HOST}/c/${snitch.token}`);
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const answer = await context.ask('POST', `/c/${snitch.token}?s=1&m=disk+full`, { headers });
  assert.is(answer.status, 202, answer.text);
  const [checkIn] = await history(context, snitch);
  assert.equal([checkIn?.source, checkIn?.message], [CLIENT, 'disk full']);
});

test('metrics are for this host alone', async ({ daemon, ask }) => {
  for (const path of ['/metrics', '/metrics/', '/metrics?x=1', '/%6detrics']) {
    const answer = await ask('GET', path);
    assert.is(answer.status, 404, path);
    assert.not.match(answer.text, 'snitch_check_ins_total');
  }
  assert.is((await fetch(`${daemon.url}/metrics`)).status, 200);
});

test('a check-in waits for a daemon that restarts', async (context) => {
  const snitch = await newSnitch(context);
  await context.daemon.end();
  const waiting = context.ask('POST', `/c/${snitch.token}`);
  const [answer, daemon] = await Promise.all([waiting, context.startDaemon()]);
  context.daemon = daemon;
  assert.is(answer.status, 202, answer.text);
  assert.is((await history(context, snitch)).length, 1);
});

test('if the daemon stays away, the address of the check-in is in no log', async (context) => {
  const { token } = await newSnitch(context);
  await context.daemon.end();
  assert.is((await context.ask('POST', `/c/${token}`)).status, 502);
  assert.match(context.log(), 'serving initial configuration');
  assert.not.match(context.log(), token);
});

runUnless(withoutTools('caddy'), test, 'the Caddy example');
