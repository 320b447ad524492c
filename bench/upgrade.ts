/**
 * How long the upgrade of a large database from the first schema takes, and its peak memory.
 *
 *   node bench/upgrade.ts [--rounds 1] [--snitches 1000000] [--history 10] [--directory DIR] [--keep FILE]
 *
 * `--directory` chooses the disk. With `--keep`, the database from before the upgrade is kept at that path, and the
 * next run uses it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFirstVersion } from './database/first-version.ts';
import { databaseIn, flush } from './database/jobs-database.ts';
import { median } from './quantile.ts';
import type { Told } from './upgrade-process.ts';
import { Workplace } from './workplace.ts';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    snitches: { type: 'string', default: '1000000' },
    history: { type: 'string', default: '10' },
    directory: { type: 'string', default: tmpdir() },
    keep: { type: 'string' },
  },
});

/** What an upgrade took: seconds, seconds of processor time, and bytes of memory. */
interface Taken {
  seconds: number;
  processor: number;
  memory: number;
}

/** Makes the database of the first version, unless it was kept. @returns its path */
function original(workplace: Workplace): string {
  const kept = given.keep ?? join(workplace.directory, 'original.db');
  if (existsSync(kept)) return kept;
  const dataDir = workplace.newDirectory();
  writeFirstVersion(dataDir, { count: Number(given.snitches), history: Number(given.history) });
  if (dirname(kept) === workplace.directory) renameSync(databaseIn(dataDir), kept);
  else copyFileSync(databaseIn(dataDir), kept);
  return kept;
}

function inWords({ seconds, processor, memory }: Taken): string {
  return `${seconds.toFixed(1)} s, ${processor.toFixed(1)} s of the processor, ${(memory / 1e6).toFixed(0)} MB at its height`;
}

async function upgrade(workplace: Workplace, from: string): Promise<Taken> {
  const dataDir = workplace.newDirectory();
  copyFileSync(from, databaseIn(dataDir));
  flush(dataDir);
  const child = workplace.holds(fork(join(import.meta.dirname, 'upgrade-process.ts'), [dataDir]));
  const taken = await heard(child);
  rmSync(dataDir, { recursive: true });
  return taken;
}

/** Prints each phase when the next one begins. */
async function heard(child: ChildProcess): Promise<Taken> {
  let last: Told = { phase: '', seconds: 0, processor: 0, memory: 0 };
  let taken: Taken | undefined;
  child.on('message', (told: Told) => {
    if (told.phase === last.phase) return;
    const since = { seconds: told.seconds - last.seconds, processor: told.processor - last.processor };
    if (last.phase !== '') console.log(`  ${inWords({ ...told, ...since })}: ${last.phase}`);
    last = told;
    if (told.phase === 'done') taken = told;
  });
  await once(child, 'exit');
  if (taken === undefined) throw new Error('the upgrade did not end well');
  return taken;
}

const workplace = new Workplace(given.directory);
try {
  const from = original(workplace);
  console.log(`${(statSync(from).size / 1e6).toFixed(0)} MB with the first schema`);
  const all: Taken[] = [];
  for (let round = 0; round < Number(given.rounds); round += 1) {
    const taken = await upgrade(workplace, from);
    all.push(taken);
    console.log(inWords(taken));
  }
  console.log(`median: ${median(all.map(({ seconds }) => seconds)).toFixed(1)} s`);
} finally {
  await workplace.end();
}
