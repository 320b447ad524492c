/**
 * The link in a message of the built program: it survives a kill, a restart and a restore, and what it acknowledges is
 * never escalated. Time limit: 180 s.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import { runSnitch } from '../cli/snitch-process.ts';
import { closing } from '../closing.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { unless } from '../skipped.ts';
import { queryDirectory } from '../store/fixture.ts';
import { ON_POSTGRES, queryOnPostgres, WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';

const query = ON_POSTGRES ? queryOnPostgres : queryDirectory;

const test = suite('the link in a message');

/** How long the pager waits, in seconds. */
const HOUR = 3_600;

const BASE = 'https://ops.example.com/snitch';

/** A push server that records each message with the token of its channel. */
async function startPushServer() {
  const messages: { from: string; title: string; text: string; link: string | null }[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as {
      title: string;
      message: string;
      extras?: { 'client::notification': { click: { url: string } } };
    };
    const link = body.extras?.['client::notification'].click.url ?? null;
    messages.push({
      from: String(request.headers['x-gotify-key']),
      title: body.title,
      text: body.message,
      link,
    });
    response.end('{}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return closing({ messages, url, close: () => server.close() });
}

type PushServer = Awaited<ReturnType<typeof startPushServer>>;

async function addChannel({ call }: DaemonProcess, { url }: PushServer, token: string, after = 0) {
  const settings = { server: url, token };
  const answer = await call('POST', '/v1/channels', { kind: 'gotify', name: token, settings, after });
  assert.is(answer.status, 200, await answer.text());
}

async function failing({ call, url }: DaemonProcess, name: string): Promise<WireSnitch> {
  const snitch = (await (
    await call('POST', '/v1/snitches', { name, interval: 'daily' })
  ).json()) as WireSnitch;
  await fetch(`${url}/c/${snitch.token}?s=3`);
  return snitch;
}

const snitchNow = async ({ call }: DaemonProcess, { href }: WireSnitch) =>
  (await (await call('GET', href)).json()) as WireSnitch;
const deliveries = async ({ call }: DaemonProcess) =>
  (await (await call('GET', '/v1/deliveries')).json()) as WireDelivery[];

/** Acts as if the hour for which the pager waits were over. */
async function letTimePass(dataDir: string): Promise<void> {
  await query(dataDir, 'UPDATE alerts SET at = at - ?', 2 * HOUR * 1_000);
  await query(dataDir, `UPDATE deliveries SET next_attempt_at = 0 WHERE state <> 'delivered'`);
}

async function press(url: string, by: string): Promise<Response> {
  const page = /name="page" value="([^"]*)"/.exec(await (await fetch(url)).text())?.[1] ?? '';
  await sleep(1_100);
  return fetch(url, { method: 'POST', body: new URLSearchParams({ page, by }) });
}

test('a killed daemon keeps the acknowledgement and the key, and never escalates', async () => {
  const dataDir = newDataDir();
  try {
    using server = await startPushServer();
    const env = { SNITCH_BASE_URL: `${BASE}/` };
    await using first = await startProcess({ dataDir, env });
    await addChannel(first, server, 'first');
    await addChannel(first, server, 'pager', HOUR);
    const snitch = await failing(first, 'nightly');
    await until(() => server.messages.length === 1, 'the message is there');
    const [message] = server.messages;
    assert.is(message?.from, 'first');
    assert.match(message?.text ?? '', `Acknowledge: ${message?.link}`);
    const link = message?.link ?? '';
    assert.ok(link.startsWith(`${BASE}/a/alert_`), link);
    const path = link.slice(BASE.length);
    assert.match(await (await press(`${first.url}${path}`, 'Ann')).text(), 'Acknowledged by <bdi>Ann</bdi>');
    await first.end('SIGKILL');

    await using second = await startProcess({ dataDir, env });
    assert.is((await snitchNow(second, snitch)).acknowledged?.by, 'Ann');
    assert.match(
      await (await fetch(`${second.url}${path}`)).text(),
      'acknowledged already, by <bdi>Ann</bdi>',
    );
    const [pager] = (await deliveries(second)).filter(({ target }) => target === 'pager');
    assert.equal([pager?.state, pager?.last_error], ['dropped', 'it was acknowledged before']);
    const [{ value: key = '' } = {}] = await query<{ value: string }>(
      dataDir,
      `SELECT value FROM settings WHERE name = 'links.key'`,
    );
    assert.is(Buffer.from(key, 'base64').length, 32);
    const said = [...first.log, ...second.log].join('\n');
    for (const secret of [key, path.split('.')[1] ?? '']) assert.not.ok(said.includes(secret));
    await second.end();
  } finally {
    removeDataDir(dataDir);
  }
});

test('an alarm acknowledged between two kills never escalates, and one that is not does', async () => {
  const dataDir = newDataDir();
  try {
    using server = await startPushServer();
    await using first = await startProcess({ dataDir });
    await addChannel(first, server, 'pager', HOUR);
    const seen = await failing(first, 'seen');
    await failing(first, 'overlooked');
    await first.end('SIGKILL');
    await using second = await startProcess({ dataDir });
    const answer = await second.call('POST', `${seen.href}/acknowledge`, { by: 'Ann' });
    assert.is(answer.status, 200, await answer.text());
    await second.end('SIGKILL');
    await letTimePass(dataDir);
    await using third = await startProcess({ dataDir });
    const settled = async () => (await deliveries(third)).every(({ state }) => state !== 'pending');
    await until(settled, 'nothing waits any more');
    assert.equal(
      server.messages.map(({ title }) => /seen|overlooked/.exec(title)?.[0]),
      ['overlooked'],
    );
    assert.equal((await deliveries(third)).map(({ state }) => state).sort(), ['delivered', 'dropped']);
    await third.end();
  } finally {
    removeDataDir(dataDir);
  }
});

unless(WITHOUT_SQLITE, test)('a link is good in a restored backup, and not on another server', async () => {
  const [dataDir, other, restored] = [newDataDir(), newDataDir(), join(newDataDir(), 'deep')];
  try {
    using server = await startPushServer();
    const env = { SNITCH_BASE_URL: BASE };
    await using daemon = await startProcess({ dataDir, env });
    await addChannel(daemon, server, 'first');
    await failing(daemon, 'nightly');
    await until(() => server.messages.length === 1, 'the message is there');
    const path = (server.messages[0]?.link ?? '').slice(BASE.length);
    const file = join(other, 'copy.db');
    const copied = await runSnitch(['backup', file], { SNITCH_DATA_DIR: dataDir });
    assert.is(copied.code, 0, copied.stderr);
    await daemon.end();
    const back = await runSnitch(['restore', file, '--data-dir', restored]);
    assert.is(back.code, 0, back.stderr);
    await using moved = await startProcess({ dataDir: restored, env });
    assert.match(await (await fetch(`${moved.url}${path}`)).text(), '<button>Acknowledge</button>');
    await moved.end();
    await using stranger = await startProcess({ dataDir: other, env });
    assert.is((await fetch(`${stranger.url}${path}`)).status, 404);
    await stranger.end();
  } finally {
    for (const one of [dataDir, other, restored]) removeDataDir(one);
  }
});

test('without base_url there is no link, because it would lead nowhere; a recovery never has one', async () => {
  const [dataDir, other] = [newDataDir(), newDataDir()];
  try {
    using server = await startPushServer();
    for (const [own, env] of [
      [dataDir, {}],
      [other, { SNITCH_BASE_URL: BASE }],
    ] as const) {
      await using daemon = await startProcess({ dataDir: own, env });
      await addChannel(daemon, server, 'first');
      const { token } = await failing(daemon, 'nightly');
      await until(() => server.messages.length === 1, 'the alarm is told');
      await fetch(`${daemon.url}/c/${token}`);
      await until(() => server.messages.length === 2, 'the end is told');
      await daemon.end();
      const links = server.messages.splice(0).map(({ link }) => link !== null);
      assert.equal(links, [own === other, false]);
    }
  } finally {
    for (const one of [dataDir, other]) removeDataDir(one);
  }
});

test.run();
