/**
 * What jobs that run once a day do: each check-in is the first of its period, on a snitch that nobody touched for a
 * day. Each token is used once, in random order.
 */
import { randomInt } from 'node:crypto';
import { usualScene } from '../database/scene.ts';
import { prepareScene } from '../database/stage.ts';
import { costsOf } from '../load/costs.ts';
import { load, writeTokens } from '../load/wrk.ts';
import { type Case, counted, type Sizes } from './case.ts';

/** The share of the tokens that is for warming up. Each round uses up an equal part of the others. */
const WARM_UP_SHARE = 0.05;

export const firstOfPeriod: Case = {
  name: 'first-of-period',
  rounds: 5,
  lines: ({ million }: Sizes) => [
    {
      what: `First check-ins of their periods, among ${counted(million)} snitches`,
      figure: 'rate',
      unit: 'a second',
      beside: { figure: 'bareRate', name: 'bare `node:http`' },
      aim: { of: 'ratio', least: 0.22 },
    },
    {
      what: 'Their p99',
      figure: 'p99',
      unit: 'ms',
      beside: { figure: 'bareP99', name: 'bare `node:http`' },
      aim: { of: 'figure', most: 15 },
    },
  ],
  async open(subject) {
    const { workplace, sizes, bare } = subject;
    const database = await subject.database(sizes.million);
    await prepareScene(database, usualScene(database.midnight));
    const tokens = writeTokens(workplace.path('tokens'), shuffled(database.tokens));
    const { connections, seconds, requests: most } = sizes;
    const daemon = await subject.start(database.dataDir);
    const all = database.tokens.length;
    const warmUp = Math.ceil(all * WARM_UP_SHARE);
    const each = Math.floor((all - warmUp) / sizes.rounds);
    let from = 0;
    const next = async (count: number, within: number) => {
      const part = { tokens, connections, seconds: within, most, from, count };
      from += count;
      const other = await load(workplace, { ...part, url: bare.url, once: false });
      const costs = costsOf(subject, daemon);
      const { rate, p99, requests } = await load(workplace, { ...part, url: daemon.url, once: true });
      return { bareRate: other.rate, bareP99: other.p99, rate, p99, ...costs(requests) };
    };
    await next(warmUp, Math.min(2, seconds));
    return { round: () => next(each, seconds), end: () => daemon.end() };
  },
};

function shuffled(values: readonly string[]): string[] {
  const mixed = [...values];
  for (let index = mixed.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [mixed[index], mixed[other]] = [mixed[other] ?? '', mixed[index] ?? ''];
  }
  return mixed;
}
