/** How much it slows check-ins down that Prometheus collects the series of each snitch, far more often than usual. */
import { setTimeout as sleep } from 'node:timers/promises';
import { steadyTokens } from '../database/jobs-database.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { pace } from '../load/wrk.ts';
import type { Daemon } from '../program/daemon.ts';
import { median } from '../quantile.ts';
import { type Case, counted } from './case.ts';

const SECOND = 1_000;

export const metrics: Case = {
  name: 'metrics',
  rounds: 3,
  onlyNamed: true,
  lines: ({ tenThousand }) => [
    { what: `Series of ${counted(tenThousand)} snitches`, figure: 'scrape', unit: 'ms' },
    { what: 'Their text', figure: 'size', unit: 'bytes' },
    {
      what: 'p99 of a check-in while they are collected each second',
      figure: 'p99',
      unit: 'ms',
      beside: { figure: 'idle', name: 'while nobody collects them' },
    },
    {
      what: 'Its p99 while they are being made',
      figure: 'during',
      unit: 'ms',
    },
  ],
  async open({ workplace, sizes, start, database: prepared }) {
    const database = await prepared(sizes.tenThousand);
    const paths = steadyTokens(database, 1_000).map((token) => `/c/${token}`);
    const daemon = await start(database.dataDir);
    return {
      async round() {
        const beside = pace(workplace, { url: daemon.url, paths, rate: sizes.rate });
        await sleep(2 * SECOND);
        const quiet = Date.now();
        await sleep(sizes.seconds * SECOND);
        const begun = Date.now();
        const scrapes = await collect(daemon, sizes.seconds);
        const ended = Date.now();
        const answered = await beside.end();
        const during = answered.filter(({ at }) => scrapes.some(({ from, to }) => at >= from && at < to));
        return {
          scrape: median(scrapes.map(({ from, to }) => to - from)),
          size: scrapes[0]?.size ?? 0,
          p99: latenciesBetween(answered, begun, ended).p99,
          idle: latenciesBetween(answered, quiet, begun).p99,
          during: latenciesBetween(during, 0, Number.POSITIVE_INFINITY).p99,
        };
      },
      end: () => daemon.end(),
    };
  },
};

/** Once a second, for `seconds` seconds. */
async function collect(daemon: Daemon, seconds: number) {
  const scrapes: { from: number; to: number; size: number }[] = [];
  for (let count = 0; count < seconds; count += 1) {
    const next = sleep(SECOND);
    const from = Date.now();
    const answer = await daemon.call('GET', '/v1/metrics');
    const { size } = await answer.blob();
    if (answer.status !== 200) throw new Error(`the series were answered ${answer.status}`);
    scrapes.push({ from, to: Date.now(), size });
    await next;
  }
  return scrapes;
}
