/** Ten thousand snitches are due at once, among a million and among few. Nobody is alerted: only the sweep counts. */
import type { JobsDatabase } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { type Case, counted, type Subject } from './case.ts';
import { awaitDue, untilDecided } from './due.ts';

/** Milliseconds of quiet before they are due. */
const CALM = 500;

export const sweep: Case = {
  name: 'sweep',
  rounds: 3,
  lines: ({ million, tenThousand, thousand }) => [
    {
      what: `Sweep of ${counted(tenThousand)} due among ${counted(million)}`,
      figure: 'large',
      unit: 's',
      beside: { figure: 'small', name: `among ${counted(tenThousand + thousand)}` },
      aim: { of: 'ratio', most: 1.5 },
    },
  ],
  async open(subject) {
    const { million, tenThousand, thousand } = subject.sizes;
    const large = await subject.database(million);
    const small = await subject.database(tenThousand + thousand);
    return {
      async round() {
        return {
          small: await timeOf(subject, small, tenThousand),
          large: await timeOf(subject, large, tenThousand),
        };
      },
      end: async () => {},
    };
  },
};

/** Seconds until the last alert is decided. A pass begins each second, so up to one second of this is waiting. */
async function timeOf(subject: Subject, database: JobsDatabase, failing: number): Promise<number> {
  const scene = (at: number) => usualScene(database.midnight, failing, at);
  const { daemon, dueAt } = await awaitDue(subject, database, scene, { calm: CALM });
  const { last } = await untilDecided(database, dueAt, failing);
  await daemon.end();
  return last / 1_000;
}
