/** What a slow disk does to those who do not need it: a GET beside check-ins, with each sync of the daemon slower. */
import { without } from '../../test/skipped.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { load, pace, writeTokens } from '../load/wrk.ts';
import type { Case } from './case.ts';

export const slowDisk: Case = {
  name: 'slow-disk',
  rounds: 3,
  onlyNamed: true,
  lines: ({ slowDisk: milliseconds }) => [
    { what: `Check-ins, each sync ${milliseconds} ms slower`, figure: 'rate', unit: 'a second' },
    { what: 'Their p99', figure: 'p99', unit: 'ms' },
    {
      what: 'p99 of a plain GET beside them',
      figure: 'beside',
      unit: 'ms',
      beside: { figure: 'besideBare', name: 'bare `node:http`' },
    },
  ],
  async open(subject) {
    const { workplace, sizes, bare } = subject;
    if (without('strace')) throw new Error('strace is not installed: it makes the disk slow');
    const database = await subject.database(sizes.thousand);
    const tokens = writeTokens(workplace.path('tokens'), database.tokens);
    const daemon = await subject.wrapped(slower(sizes.slowDisk)).start(database.dataDir);
    const beside = async (url: string) => {
      const gets = pace(workplace, { url, paths: ['/healthz'], rate: sizes.rate });
      const { connections, seconds, requests: most } = sizes;
      const count = database.tokens.length;
      const part = { tokens, connections, seconds, most, from: 0, count, once: false };
      const own = await load(workplace, { ...part, url });
      return { ...own, beside: latenciesBetween(await gets.end(), 0, Number.POSITIVE_INFINITY).p99 };
    };
    return {
      async round() {
        const other = await beside(bare.url);
        const own = await beside(daemon.url);
        return { rate: own.rate, p99: own.p99, beside: own.beside, besideBare: other.beside };
      },
      end: () => daemon.end(),
    };
  },
};

function slower(milliseconds: number): string[] {
  const calls = 'fdatasync,fsync';
  const inject = `inject=${calls}:delay_enter=${milliseconds * 1_000}`;
  return ['strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject];
}
