/** Works on a store under `strace`, with a checkpoint from outside now and then, until its work is done; then it dies. */
import { fdatasync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { openStore } from '../acting.ts';

const [dataDir = '', acknowledgements = '', mode = '', ...tokens] = process.argv.slice(2);
const ROUNDS = 90;

/** A slow disk, and a database that takes longer to sync than a log: what is done meanwhile may rely on it too early. */
async function syncFile(fd: number, done: (error: Error | null) => void): Promise<void> {
  await sleep(fstatSync(fd).ino === statSync(databasePath(dataDir)).ino ? 8 : 3);
  fdatasync(fd, done);
}

const background = { backgroundFrom: 0, syncFile };
const options = { dataDir, clock: Date.now, checkpointAfter: 60 };
const store = openStore(mode === 'background' ? { ...options, ...background } : options);
const outside = new Database(databasePath(dataDir), { timeout: 0 });
const acknowledged = openSync(acknowledgements, 'w');
const nothing = { exitStatus: null, source: null, runId: null, output: null };
let now = Date.now();

async function checkIn(token: string, round: number): Promise<void> {
  now += 1;
  const message = 'x'.repeat(1 + ((round * 37) % 250));
  await store.applyCheckIn({ token, now, at: now, outcome: 'healthy', ...nothing, message });
  writeSync(acknowledged, '+');
}

for (let round = 0; round < ROUNDS; round += 1) {
  const chosen = tokens.filter((_, index) => (index + round) % 4 < 2);
  const rounds = chosen.map((token) => checkIn(token, round));
  if (round % 3 === 0) await Promise.all(rounds);
  // It copies whatever is in the log, and syncs by itself, as `sqlite3 … 'PRAGMA wal_checkpoint'` does.
  if (round % 3 === 0 && round > ROUNDS / 3) outside.pragma('wal_checkpoint(PASSIVE)');
  await Promise.all(rounds);
}
process.kill(process.pid, 'SIGKILL');
