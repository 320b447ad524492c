/**
 * Works on a store that copies its log in the background, and ends (or stops) itself when it reaches the step that it is
 * told for so many times, counted from the first copy. The names of the steps are below.
 */
import { fdatasync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { CopyingThread } from '../../../src/store/sqlite/background-copy.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { openStore } from '../acting.ts';

const [dataDir = '', acknowledgements = '', signal = '', step = '', times = '', ...tokens] =
  process.argv.slice(2);
/** More than the slowest host needs for any step: a copy that waits for a processor lets many rounds pass. */
const ROUNDS = 4_000;

const database = databasePath(dataDir);
const acknowledged = openSync(acknowledgements, 'a');
let hasBegun = false;
let left = Number(times);

function reach(name: string): void {
  hasBegun ||= name === 'a copy begins';
  if (!hasBegun || name !== step) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, signal);
}

/** Lets the thread work for some time, which is long for what it has to do. */
function waitFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

const thread = new CopyingThread(database, () => true);
const background = {
  end: () => thread.end(),
  copy: async () => {
    reach('a copy begins');
    const copying = thread.copy();
    await new Promise(setImmediate);
    waitFor(left % 5);
    reach('amid a copy');
    const copied = await copying;
    reach('after a copy');
    return copied;
  },
};

let last = '';

/** After the database, and before any other, comes the sync of the log that a checkpoint has restarted. */
function syncFile(fd: number, done: (error: Error | null) => void): void {
  const isDatabase = fstatSync(fd).ino === statSync(database).ino;
  const file = isDatabase ? 'the database' : last === 'the database' ? 'the log after it' : 'the log';
  last = file;
  reach(`a sync of ${file} begins`);
  fdatasync(fd, (error) => {
    reach(`after a sync of ${file}`);
    done(error);
  });
}

const store = openStore({
  dataDir,
  clock: Date.now,
  checkpointAfter: 60,
  backgroundFrom: 0,
  background,
  syncFile,
});
const nothing = { exitStatus: null, source: null, runId: null, output: null };

async function checkIn(token: string, round: number): Promise<void> {
  const now = Date.now();
  const message = 'x'.repeat(1 + ((round * 37) % 250));
  await store.applyCheckIn({ token, now, at: now, outcome: 'healthy', ...nothing, message });
  writeSync(acknowledged, '+');
}

for (let round = 0; round < ROUNDS; round += 1) {
  await Promise.all(tokens.map((token) => checkIn(token, round)));
}
