/** Escalation with the built program and a real receiver, killed while something waits. Time limit: 180 s. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import { runSnitch } from '../cli/snitch-process.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { startReceiver } from '../delivery/receiver.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';

const test = suite('escalation');

/** Seconds. */
const AFTER = 15;

async function made(daemon: DaemonProcess, name: string): Promise<WireSnitch> {
  const answer = await daemon.call('POST', '/v1/snitches', { name, interval: 'hourly' });
  assert.is(answer.status, 200);
  return (await answer.json()) as WireSnitch;
}

async function checkIn({ url }: DaemonProcess, { token }: WireSnitch, query = ''): Promise<void> {
  assert.is((await fetch(`${url}/c/${token}${query}`)).status, 202);
}

/** Deliveries to the pager, oldest first: what they are about, and what became of them. */
async function pagesOf(daemon: DaemonProcess): Promise<string[]> {
  const answer = await daemon.call('GET', '/v1/deliveries');
  const all = (await answer.json()) as WireDelivery[];
  const pages = all.filter(({ target }) => target === 'pager').reverse();
  return pages.map(({ snitch, type, state, attempts }) => `${snitch?.name} ${type} ${state} ${attempts}`);
}

test('through a kill, what lasts is told once in its time, and what ended or was paused before that is never told', async () => {
  const dataDir = newDataDir();
  try {
    using pager = await startReceiver();
    using chat = await startReceiver();
    let lasting: WireSnitch;
    let ended: WireSnitch;
    let decidedAt: number;
    {
      await using daemon = await startProcess({ dataDir });
      for (const [name, port, after] of [
        ['pager', pager.port, AFTER],
        ['chat', chat.port, 0],
      ] as const) {
        const settings = { server: `http://127.0.0.1:${port}`, topic: name };
        const channel = { kind: 'ntfy', name, settings, after, events: ['missing', 'errored', 'reporting'] };
        assert.is((await daemon.call('POST', '/v1/channels', channel)).status, 200);
      }
      [lasting, ended] = [await made(daemon, 'lasting'), await made(daemon, 'ended')];
      const paused = await made(daemon, 'paused');
      for (const snitch of [ended, paused]) await checkIn(daemon, snitch, '?s=1');
      decidedAt = performance.now();
      await checkIn(daemon, lasting, '?s=1');
      const pause = await daemon.call('POST', `/v1/snitches/${paused.token}/pause`, {});
      assert.is(pause.status, 204);
      await until(() => chat.received.length > 0);
      assert.is(pager.received.length, 0);
      await daemon.end('SIGKILL');
    }
    await using daemon = await startProcess({ dataDir });
    await checkIn(daemon, ended);
    await until(() => pager.received.length > 0, 'the alarm arrives', 60_000);
    assert.ok((pager.received[0]?.at ?? 0) - decidedAt >= AFTER * 1_000, 'not before its time');
    // The recovery goes to whoever got the alarm, and to nobody else.
    await checkIn(daemon, lasting);
    await until(() => pager.received.length > 1, 'its end arrives', 60_000);
    await sleep(2_000);
    assert.is(pager.received.length, 2);
    assert.equal((await pagesOf(daemon)).sort(), [
      'ended snitch.errored dropped 0',
      'lasting snitch.errored delivered 1',
      'lasting snitch.reporting delivered 1',
      'paused snitch.errored dropped 0',
    ]);
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    assert.match(metrics, /^snitch_deliveries_total\{channel="ntfy",result="dead"\} 0$/m);
    assert.match(metrics, /^snitch_outbox_waiting_deliveries 0$/m);
    const listed = await runSnitch(['deliveries', '--state', 'dropped'], {
      SNITCH_DATA_DIR: dataDir,
      TZ: 'UTC',
    });
    assert.match(listed.stdout, /it recovered before/);
    assert.match(listed.stdout, /it was paused before/);
    const doctor = await runSnitch(['doctor'], { SNITCH_DATA_DIR: dataDir, TZ: 'UTC' });
    assert.match(doctor.stdout, /pager \(ntfy\) has refused nothing/);
  } finally {
    removeDataDir(dataDir);
  }
});

test.run();
