/**
 * What a failover costs: two nodes, clients that check in all the time, a primary that is killed and a standby that is
 * promoted at once. Prints how many check-ins were acknowledged, how many of those were lost, and how long no client
 * was answered.
 *
 *   node bench/failover.ts [--clients 16] [--seconds 6]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { WireSnitch } from '../src/api/wire.ts';
import { type DaemonProcess, startProcess } from '../test/end-to-end/daemon-process.ts';
import { startCluster } from '../test/store/postgres/clusters/cluster.ts';
import { until } from '../test/until.ts';

const { values: given } = parseArgs({
  options: { clients: { type: 'string', default: '16' }, seconds: { type: 'string', default: '6' } },
});
const clients = Number(given.clients);
const quietMs = Number(given.seconds) * 1_000;

interface Variant {
  name: string;
  synchronous: boolean;
  delayMs: number;
}

const VARIANTS: readonly Variant[] = [
  { name: 'synchronous', synchronous: true, delayMs: 0 },
  { name: 'asynchronous, beside it', synchronous: false, delayMs: 0 },
  { name: 'asynchronous, 300 ms away', synchronous: false, delayMs: 300 },
];

class Load {
  acknowledged = 0;
  refused = 0;
  lastAt = 0;
  firstAfter: number | null = null;
  isPromoting = false;
  #isOver = false;
  readonly #running: Promise<void>[] = [];

  start(url: string): void {
    this.#running.push(this.#run(url));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #run(url: string): Promise<void> {
    while (!this.#isOver) {
      const began = performance.now();
      const isTaken = await fetch(url, { method: 'POST' }).then(
        ({ status }) => status === 202,
        () => false,
      );
      if (isTaken) this.acknowledged += 1;
      else this.refused += 1;
      // An answer to a request from before the kill may have been on its way already.
      if (isTaken && this.isPromoting && (began > this.lastAt || performance.now() - this.lastAt > 100))
        this.firstAfter ??= performance.now();
    }
  }
}

async function newSnitch(node: DaemonProcess, index: number): Promise<string> {
  const answer = await node.call('POST', '/v1/snitches', { name: `job ${index}`, interval: 'daily' });
  return ((await answer.json()) as WireSnitch).token;
}

async function measure({ name, synchronous, delayMs }: Variant): Promise<string> {
  await using primary = await startCluster({ fsync: true });
  const database = await primary.newDatabase();
  const standby = await primary.standby({ synchronous, linked: delayMs > 0 });
  standby.link?.delay(delayMs);
  const env = {
    SNITCH_STORE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${database}`,
  };
  await using one = await startProcess({ env });
  await using two = await startProcess({ env, keysOf: one });
  const load = new Load();
  for (let index = 0; index < clients; index += 1)
    load.start(`${(index % 2 === 0 ? one : two).url}/c/${await newSnitch(one, index)}`);
  await sleep(quietMs);
  // Replication that is still on its way is lost with its host.
  standby.link?.cut();
  await primary.server.kill();
  load.lastAt = performance.now();
  load.isPromoting = true;
  await standby.promote();
  const promotedAt = performance.now();
  await until(() => load.firstAfter !== null, 'a check-in is taken again', 120_000);
  await sleep(quietMs / 2);
  await load.end();
  const [row] = await standby.query<{ stored: number }>(
    'SELECT sum(check_in_count)::int AS stored FROM snitch_states',
    [],
    database,
  );
  const lost = Math.max(0, load.acknowledged - (row?.stored ?? 0));
  const seconds = (from: number) => `${(((load.firstAfter ?? 0) - from) / 1_000).toFixed(1)} s`;
  const figures = [load.acknowledged, lost, load.refused, seconds(load.lastAt), seconds(promotedAt)];
  return `| ${name} | ${figures.join(' | ')} |`;
}

console.log(
  '| Standby | Acknowledged | Lost of them | Refused | First answer after the kill | after the promotion |',
);
console.log('|---|---|---|---|---|---|');
for (const variant of VARIANTS) console.log(await measure(variant));
