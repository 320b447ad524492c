/** A real Alertmanager gets alarms, keeps them while they last, and is told when they end. Time limit: 120 s. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import { freePort } from '../free-port.ts';
import { unless, without } from '../skipped.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { startReceiver } from './receiver.ts';

const PROGRAM = 'prometheus-alertmanager';

interface Manager extends AsyncDisposable {
  url: string;
  alerts(): Promise<
    { labels: Record<string, string>; endsAt: string; annotations: Record<string, string> }[]
  >;
}

async function startManager(webhook: string): Promise<Manager> {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-alertmanager-'));
  const port = await freePort();
  const file = join(directory, 'am.yml');
  writeFileSync(
    file,
    `route: {receiver: hook, group_by: [token], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: '${webhook}', send_resolved: true}]}]
`,
  );
  const child: ChildProcess = spawn(
    PROGRAM,
    [
      `--config.file=${file}`,
      `--storage.path=${directory}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  const ready = async () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  const dispose = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await until(ready, 'the Alertmanager is ready');
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url,
    alerts: async () => (await fetch(`${url}/api/v2/alerts`)).json() as ReturnType<Manager['alerts']>,
    [Symbol.asyncDispose]: dispose,
  };
}

const real = suite('a real Alertmanager');
const test = unless(without(PROGRAM), real);

test('gets an alarm, gets it again while it lasts, and resolves it on recovery', async () => {
  using hook = await startReceiver();
  await using manager = await startManager(hook.url);
  const outbox = await Outbox.open();
  try {
    const fields = { settings: { url: manager.url }, events: DEFAULT_EVENTS, tags: [] };
    await outbox.store.createChannel(
      outbox.owner.id,
      { kind: 'alertmanager', name: null, fields },
      outbox.clock(),
    );
    outbox.deliverer();
    const [token = ''] = await outbox.raise(1, { names: ['größe "x"\\ 夜'] });
    await until(async () => (await manager.alerts()).length === 1, 'it has the alarm');
    const [alarm] = await manager.alerts();
    assert.equal(alarm?.labels, {
      alertname: 'SnitchMissing',
      token,
      name: 'größe "x"\\ 夜',
      severity: 'critical',
    });
    assert.match(alarm?.annotations.summary ?? '', /^\[Error\] größe/);
    const firstEnd = Date.parse(alarm?.endsAt ?? '');
    outbox.offset += 90_000;
    await until(
      async () => Date.parse((await manager.alerts())[0]?.endsAt ?? '') > firstEnd,
      'it is told again',
    );
    await outbox.store.updateSnitch(outbox.owner.id, token, { name: 'renamed' }, outbox.clock());
    outbox.offset = 0;
    await outbox.checkIn(token, 'healthy');
    await until(
      async () => (await manager.alerts()).length === 0,
      'it is resolved, whatever it is called now',
    );
    const statuses = () => hook.received.map(({ body }) => (JSON.parse(body) as { status: string }).status);
    await until(() => statuses().includes('resolved'), 'its receiver hears of the end');
    outbox.offset += 200_000;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await manager.alerts(), [], 'nothing is told again after the end');
    assert.equal(
      (await outbox.deliveries()).map(({ state }) => state),
      ['delivered', 'delivered'],
    );
  } finally {
    await outbox.dispose();
  }
});

// A proxy whose Alertmanager is restarting gives the same answer as an Alertmanager that has no such path.
test('an unknown path is tried again, just as if the Alertmanager were away', async () => {
  using hook = await startReceiver();
  const outbox = await Outbox.open();
  try {
    let url = '';
    {
      await using manager = await startManager(hook.url);
      ({ url } = manager);
      const fields = { settings: { url: `${url}/elsewhere` }, events: DEFAULT_EVENTS, tags: [] };
      await outbox.store.createChannel(
        outbox.owner.id,
        { kind: 'alertmanager', name: null, fields },
        outbox.clock(),
      );
      outbox.deliverer();
      await outbox.raise(1);
      await until(
        async () => (await outbox.deliveries('pending'))[0]?.lastError != null,
        'it is tried again',
      );
      assert.match((await outbox.deliveries('pending'))[0]?.lastError ?? '', '404');
    }
    const fields = { settings: { url }, events: DEFAULT_EVENTS, tags: [] };
    await outbox.store.createChannel(
      outbox.owner.id,
      { kind: 'alertmanager', name: null, fields },
      outbox.clock(),
    );
    await outbox.raise(1);
    await until(async () => {
      const pending = await outbox.deliveries('pending');
      return pending.length === 3 && pending.every(({ lastError }) => lastError !== null);
    }, 'what is sent to both is tried again');
    assert.equal(await outbox.deliveries('dead'), []);
  } finally {
    await outbox.dispose();
  }
});

real.run();
