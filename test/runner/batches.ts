/** Which files are run in one process, one after the other. */
import type { Run } from './run-file.ts';

/** Files that are run in one process, in turn. */
export type Batch = [Run, ...Run[]];

/** If there are fewer files than this, each is run alone: whoever runs a few wants to see what each does on its own. */
const MANY = 20;

/** The most files of one room in a batch, so that no process ends long after the others. */
const AT_MOST = 12;

/** The same if they start the built program, because each takes longer. */
const AT_MOST_OF_PROGRAM = 8;

/** Longest first, so that the last one to end began early. */
export function inBatches(runs: readonly Run[]): Batch[] {
  const limit = (batch: Batch) => batch.reduce((sum, { file }) => sum + file.limitS, 0);
  const batches = runs.length < MANY ? runs.map((run): Batch => [run]) : gathered(runs);
  return batches.sort((one, other) => limit(other) - limit(one) || one[0].name.localeCompare(other[0].name));
}

/** Files that share a process are grouped by room and database; every other file is a batch by itself. */
function gathered(runs: readonly Run[]): Batch[] {
  const open = new Map<string, Batch>();
  const batches: Batch[] = [];
  for (const run of runs) {
    const { path, needs } = run.file;
    const room = JSON.stringify([path.replace(/\/.*/, ''), needs, run.env]);
    const batch = run.file.sharesProcess ? open.get(room) : undefined;
    if (batch && batch.length < (needs === 'nothing' ? AT_MOST : AT_MOST_OF_PROGRAM)) {
      batch.push(run);
      continue;
    }
    const begun: Batch = [run];
    if (run.file.sharesProcess) open.set(room, begun);
    batches.push(begun);
  }
  return batches;
}
