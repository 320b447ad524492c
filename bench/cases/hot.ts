/** Snitches that are checked in again and again: a thousand of them, and ten thousand. */
import { usualScene } from '../database/scene.ts';
import { prepareScene } from '../database/stage.ts';
import { costsOf } from '../load/costs.ts';
import { type Asked, load, writeTokens } from '../load/wrk.ts';
import type { Daemon } from '../program/daemon.ts';
import { type Case, counted, type Line, type Sizes, type Subject } from './case.ts';

const BARE = 'bare `node:http`';

export const hot: Case = {
  name: 'hot',
  rounds: 5,
  lines: ({ thousand, tenThousand, connections }: Sizes): Line[] => [
    {
      what: `Check-ins, ${counted(thousand)} snitches, ${connections} connections`,
      figure: 'rate',
      unit: 'a second',
      beside: { figure: 'bareRate', name: BARE },
      aim: { of: 'ratio', least: 0.5 },
    },
    { what: 'Their p99', figure: 'p99', unit: 'ms', beside: { figure: 'bareP99', name: BARE } },
    {
      what: `Check-ins, ${counted(tenThousand)} snitches`,
      figure: 'moreRate',
      unit: 'a second',
      beside: { figure: 'bareRate', name: BARE },
    },
    { what: 'Their p99', figure: 'moreP99', unit: 'ms', beside: { figure: 'bareP99', name: BARE } },
  ],
  async open(subject) {
    const { workplace, sizes, bare } = subject;
    const few = await prepare(subject, sizes.thousand);
    const more = await prepare(subject, sizes.tenThousand);
    const most = sizes.requests;
    const measure = (url: string, part: Part, seconds: number) =>
      load(workplace, { ...part, url, seconds, most });
    const warmUp = Math.min(2, sizes.seconds);
    for (const { daemon, part } of [few, more]) await measure(daemon.url, part, warmUp);
    await measure(bare.url, few.part, warmUp);
    return {
      async round() {
        const other = await measure(bare.url, few.part, sizes.seconds);
        const costs = costsOf(subject, few.daemon);
        const one = await measure(few.daemon.url, few.part, sizes.seconds);
        const cost = costs(one.requests);
        const next = await measure(more.daemon.url, more.part, sizes.seconds);
        return {
          bareRate: other.rate,
          bareP99: other.p99,
          rate: one.rate,
          p99: one.p99,
          moreRate: next.rate,
          moreP99: next.p99,
          ...cost,
        };
      },
      async end() {
        await few.daemon.end();
        await more.daemon.end();
      },
    };
  },
};

type Part = Omit<Asked, 'url' | 'seconds' | 'most'>;

async function prepare(subject: Subject, count: number): Promise<{ daemon: Daemon; part: Part }> {
  const database = await subject.database(count);
  await prepareScene(database, usualScene(database.midnight));
  const tokens = writeTokens(subject.workplace.path('tokens'), database.tokens);
  const daemon = await subject.start(database.dataDir);
  return { daemon, part: { tokens, connections: subject.sizes.connections, from: 0, count, once: false } };
}
