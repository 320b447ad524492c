/**
 * What smart deadlines learn from, in one column: the first check-ins of the last periods, six bytes for each instant,
 * as `instants.ts` packs them. If late runs are remembered as well, these follow: twelve bytes for each (when, and how
 * late), six for the instant since when the job is known, and one for the number of late runs. A length that is not a
 * multiple of six shows that they are there.
 */
import { type Learned, NO_LATE_RUNS } from '../../../core/late-runs.ts';
import { packInstants, unpackInstants, WIDTH } from './instants.ts';

/** `since`, and the number of late runs. */
const END = WIDTH + 1;

export function packLearned({ firstCheckIns, late }: Learned): Uint8Array | null {
  if (late.since === null) return packInstants(firstCheckIns);
  const numbers = [...firstCheckIns, ...late.runs.flatMap(({ at, by }) => [at, by]), late.since];
  return Buffer.concat([packInstants(numbers) ?? Buffer.alloc(0), Buffer.of(late.runs.length)]);
}

export function unpackLearned(packed: Uint8Array | null): Learned {
  if (packed === null || packed.length % WIDTH !== 1) {
    return { firstCheckIns: unpackInstants(packed), late: NO_LATE_RUNS };
  }
  const count = packed.at(-1) ?? 0;
  const behind = packed.length - END - 2 * WIDTH * count;
  if (behind < 0) return { firstCheckIns: [], late: NO_LATE_RUNS };
  const firstCheckIns = unpackInstants(packed.subarray(0, behind));
  const numbers = unpackInstants(packed.subarray(behind, -1));
  const runs = Array.from({ length: count }, (_, index) => ({
    at: numbers[2 * index] ?? 0,
    by: numbers[2 * index + 1] ?? 0,
  }));
  return { firstCheckIns, late: { since: numbers.at(-1) ?? null, runs } };
}
