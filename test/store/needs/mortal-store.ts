/**
 * Takes the steps of a script on a store, says which of them it has taken, and kills itself where it is told to: before
 * or after so many syncs of its log.
 */
import { fdatasync, writeSync } from 'node:fs';
import { openStore } from '../acting.ts';
import { checkIn, sweep } from '../fixture.ts';

/** Check-ins at the same time, and then a pass of the sweeper if `passes` is set. */
export interface Step {
  now: number;
  tokens: readonly string[];
  passes: boolean;
}

const [dataDir = '', script = '[]', syncs = '0'] = process.argv.slice(2);
/** Half a sync more means after the sync. */
let left = Number(syncs);

function live(half: number): void {
  left -= half;
  if (left <= 0) process.kill(process.pid, 'SIGKILL');
}

let now = 0;
const store = openStore({
  dataDir,
  clock: () => now,
  syncFile(fd, done) {
    live(0.5);
    fdatasync(fd, (error) => {
      live(0.5);
      done(error);
    });
  },
});

for (const step of JSON.parse(script) as Step[]) {
  now = step.now;
  await Promise.all(step.tokens.map((token) => checkIn(store, token, step.now)));
  if (step.passes) {
    while (await store.relieveSlice(step.now));
    await sweep(store, step.now);
  }
  writeSync(1, '+');
}
await store.close();
