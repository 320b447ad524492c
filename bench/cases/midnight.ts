/**
 * The midnight of a million daily jobs. All but ten thousand, which are due now, ran between 00:00 and 06:00 the day
 * before. For all the sweep knows from its last check, each of them might be due. The daemon was started too late to
 * prepare for this.
 */
import { type JobsDatabase, steadyTokens } from '../database/jobs-database.ts';
import { midnightScene } from '../database/scene.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { pace } from '../load/wrk.ts';
import { type Case, counted, type Subject } from './case.ts';
import { awaitDue, STEADY, untilDecided, WARM_UP } from './due.ts';

/** This is measured with few snitches: with many, the daemon is preparing for midnight, and not idle. */
const idle = { figure: 'idle', name: 'idle' };

export const midnight: Case = {
  name: 'midnight',
  rounds: 2,
  lines: ({ million, tenThousand, thousand }) => [
    {
      what: `Midnight of ${counted(million)} daily snitches: the last of ${counted(tenThousand)} alerts is decided after`,
      figure: 'last',
      unit: 's',
      beside: { figure: 'lastAlone', name: `of ${counted(tenThousand + thousand)}` },
      aim: { of: 'difference', most: 2 },
    },
    {
      what: 'p99 of check-ins while that sweep runs',
      figure: 'p99',
      unit: 'ms',
      beside: idle,
      aim: { of: 'ratio', most: 3 },
    },
    { what: 'In its worst second', figure: 'worst', unit: 'ms', beside: idle },
  ],
  async open(subject) {
    const { million, tenThousand, thousand } = subject.sizes;
    const large = await subject.database(million);
    const small = await subject.database(tenThousand + thousand);
    return {
      async round() {
        const alone = await one(subject, small, tenThousand);
        const { last, p99, worst } = await one(subject, large, tenThousand);
        return { lastAlone: alone.last, idle: alone.idle, last, p99, worst };
      },
      end: async () => {},
    };
  },
};

async function one(subject: Subject, database: JobsDatabase, failing: number) {
  const { workplace, sizes } = subject;
  const calm = WARM_UP + sizes.seconds * 1_000;
  const scene = (at: number) => midnightScene(database.midnight, at, failing);
  const { daemon, dueAt } = await awaitDue(subject, database, scene, { calm });
  const paths = steadyTokens(database, STEADY).map((token) => `/c/${token}`);
  const beside = pace(workplace, { url: daemon.url, paths, rate: sizes.rate });
  const { last, over } = await untilDecided(database, dueAt, failing);
  const answered = await beside.end();
  await daemon.end();
  const idle = latenciesBetween(answered, dueAt - sizes.seconds * 1_000, dueAt);
  const during = latenciesBetween(answered, dueAt, dueAt + over);
  return { last: last / 1_000, idle: idle.p99, p99: during.p99, worst: during.worstSecond };
}
