/**
 * Searches the states in which a power cut may leave the files of a store for one that loses or damages something.
 * `CRASH_STATES=20` looks at twenty times as many. Time limit: 300 s.
 */

import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Acknowledged } from '../../../src/store/sqlite/acknowledged.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { randomFrom } from '../../random.ts';
import { newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';
import { type FileName, readTrace, type Step, UncertainFile } from './disk-trace.ts';

interface World {
  dir: string;
  /** Where the states are written and opened: in memory, if there is such a place, so that no disk holds up the search. */
  desk: string;
  /** The database and the note next to it, before the traced work. */
  before: { database: Buffer; note: Buffer };
  steps: Step[];
}

const MEMORY = '/dev/shm';
const TIMES = Number(process.env.CRASH_STATES ?? 1);

/** How many states are tried for each set of pending writes: the first few nearly always suffice. */
const DENSITIES = [500, 1_500, 6_000];

/** How the store copies its log into the database. */
type Mode = 'itself' | 'background';

async function work(mode: Mode): Promise<World> {
  const dir = temporaryDirectory();
  const dataDir = join(dir, 'data');
  await using store = openIn(dataDir);
  const owner = await newCase(store);
  const snitches = await Promise.all(Array.from({ length: 16 }, () => newSnitch(store, owner)));
  await store.close();
  const path = databasePath(dataDir);
  const note = join(dataDir, 'snitch.acknowledged');
  const before = { database: readFileSync(path), note: readFileSync(note) };
  const [trace, acknowledged] = [join(dir, 'trace'), join(dir, 'acknowledged')];
  const files: Record<string, FileName> = { [path]: 'database', [`${path}-wal`]: 'log', [note]: 'note' };
  const watched = [...Object.keys(files), acknowledged].flatMap((file) => ['-P', file]);
  const calls = ['-e', 'trace=write,writev,pwrite64,pwritev,ftruncate,fallocate,fsync,fdatasync'];
  const strace = ['-f', '-qq', '-y', '-xx', '-s', '70000', '-o', trace, ...watched, ...calls];
  const program = [
    process.execPath,
    join(import.meta.dirname, 'traced-store.ts'),
    dataDir,
    acknowledged,
    mode,
  ];
  const tokens = snitches.map(({ token }) => token);
  const { stderr } = spawnSync('strace', [...strace, ...program, ...tokens], { encoding: 'utf8' });
  assert.is(stderr, '');
  const desk = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'snitch-states-'));
  return { dir, desk, before, steps: readTrace(trace, files, acknowledged) };
}

interface Found {
  states: number;
  acknowledged: number;
  /** What was wrong, and in how many states. */
  faults: Map<string, number>;
}

interface Search {
  states: number;
  /** Syncs that this disk leaves out. */
  leavesOut?: (step: Sync) => boolean;
  /** Ends as soon as something is wrong. */
  untilFirst?: boolean;
}

/** Checks states between all steps, most of them around the restart of a log or its copying. */
function search({ desk, before, steps }: World, { states: wanted, leavesOut, untilFirst }: Search): Found {
  const random = randomFrom(20_250_709);
  const files = {
    database: new UncertainFile(before.database),
    log: new UncertainFile(Buffer.alloc(0)),
    note: new UncertainFile(before.note),
  };
  const running = new Map<number, () => void>();
  const found: Found = { states: 0, acknowledged: 0, faults: new Map() };
  const seen = new Map<string, Looked>();
  const risky = leavesOut ? doubts(steps, leavesOut) : risks(steps);
  const perRisk = (0.9 * wanted) / risky.filter(Boolean).length;
  const perOther = (0.1 * wanted) / (steps.length - risky.filter(Boolean).length);
  let owed = 0;
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'change') files[step.file].write(step.change);
    else if (step.kind === 'acknowledged') found.acknowledged += step.count;
    else if (step.kind === 'synced') running.get(step.sync)?.();
    else if (!leavesOut?.(step)) running.set(step.sync, files[step.file].sync());
    owed += risky[index] ? perRisk : perOther;
    for (; owed >= 1; owed -= 1) {
      const fault = faultIn(stateOf(files, random), { desk, seen, acknowledged: found.acknowledged });
      found.states += 1;
      if (fault) found.faults.set(fault, (found.faults.get(fault) ?? 0) + 1);
      if (fault && untilFirst) return found;
    }
  }
  return found;
}

/** Where a log begins (a write at its start) or the database is written, and the steps until that is synced. */
function risks(steps: readonly Step[]): boolean[] {
  let rest = 0;
  return steps.map((step) => {
    if (step.kind === 'change') {
      const begins = step.file === 'log' && (!('at' in step.change) || step.change.at === 0);
      if (begins || step.file === 'database') rest = 24;
    }
    rest -= 1;
    return rest >= 0;
  });
}

/** The steps from a sync that is left out to the end of the next sync of that file that is made. */
function doubts(steps: readonly Step[], leavesOut: (step: Sync) => boolean): boolean[] {
  const doubtful = new Set<FileName>();
  const making = new Map<number, FileName>();
  return steps.map((step) => {
    if (step.kind === 'sync' && leavesOut(step)) doubtful.add(step.file);
    else if (step.kind === 'sync') making.set(step.sync, step.file);
    const file = step.kind === 'synced' ? making.get(step.sync) : undefined;
    const isDoubtful = doubtful.size > 0;
    if (file) doubtful.delete(file);
    return isDoubtful;
  });
}

type State = Record<FileName, Buffer>;

/** What the next start finds in a state. */
interface Looked {
  isDamaged: boolean;
  kept: number;
  isTorn: boolean;
  isCalledLost: boolean;
}

const DAMAGED: Looked = { isDamaged: true, kept: 0, isTorn: false, isCalledLost: false };

function stateOf(files: Record<FileName, UncertainFile>, random: () => number): State {
  const [database, log] = [files.database.cut(random), files.log.cut(random)];
  return { database, log, note: files.note.cut(random) };
}

/** Half of the states come up more than once and are opened once, although what they must hold may differ. */
function faultIn(
  state: State,
  { desk, seen, acknowledged }: { desk: string; seen: Map<string, Looked>; acknowledged: number },
): string | null {
  const name = [state.database, state.log, state.note].map((file) => hash('sha1', file)).join();
  const looked = seen.get(name) ?? lookAt(desk, state);
  seen.set(name, looked);
  if (looked.isDamaged) return 'damaged';
  if (looked.kept < acknowledged) return 'lost';
  if (looked.isTorn) return 'torn';
  return looked.isCalledLost ? 'falsely called lost' : null;
}

/** Opens what a power cut may leave as SQLite does at the next start. */
function lookAt(desk: string, { database, log, note }: State): Looked {
  const path = join(desk, 'cut.db');
  for (const suffix of ['-wal', '-journal']) rmSync(path + suffix, { force: true });
  writeFileSync(path, database);
  if (log.length > 0) writeFileSync(`${path}-wal`, log);
  let db: Database.Database | undefined;
  try {
    db = new Database(path);
    db.pragma('locking_mode = EXCLUSIVE');
    // Whether what this writes survives does not matter.
    db.pragma('synchronous = OFF');
    if (db.pragma('integrity_check(1)', { simple: true }) !== 'ok') return DAMAGED;
    const kept = Number(db.prepare('SELECT COUNT(*) FROM check_ins').pluck().get());
    const torn = db.prepare(`SELECT COUNT(*) FROM snitch_states AS s WHERE check_in_count <>
      (SELECT COUNT(*) FROM check_ins AS c WHERE c.snitch_id = s.id)`);
    const isTorn = torn.pluck().get() !== 0;
    return { isDamaged: false, kept, isTorn, isCalledLost: isCalledLost(db, desk, note) };
  } catch (error) {
    if (error instanceof Database.SqliteError) return DAMAGED;
    throw error;
  } finally {
    db?.close();
  }
}

/** What the next start would take for a loss. */
function isCalledLost(db: Database.Database, desk: string, note: Buffer): boolean {
  writeFileSync(join(desk, 'snitch.acknowledged'), note);
  const next = new Acknowledged(db, desk, Date.now(), () => {});
  try {
    return next.loss !== null;
  } finally {
    next.close();
  }
}

type Sync = Extract<Step, { kind: 'sync' }>;

/** Who takes a step: the thread of the program, the one that copies in the background, or one that only syncs. */
function whoIn(steps: readonly Step[]): (step: { by: string }) => 'program' | 'copier' | 'pool' {
  const program = steps.find((step) => step.kind === 'sync')?.by;
  const copies = (step: Step) =>
    step.kind === 'change' && step.file === 'database' && step.by !== program ? [step.by] : [];
  const copiers = new Set(steps.flatMap(copies));
  return ({ by }) => (by === program ? 'program' : copiers.has(by) ? 'copier' : 'pool');
}

/** Omissions that the search must notice: otherwise it would prove nothing that it finds no fault. */
const LEFT_OUT: [what: string, modes: Mode[], file: FileName, by: ReturnType<ReturnType<typeof whoIn>>][] = [
  ['the syncs of the log', ['itself', 'background'], 'log', 'pool'],
  ['the syncs of the database', ['itself', 'background'], 'database', 'pool'],
  ['the syncs of SQLite, of the header of a log that it starts', ['itself', 'background'], 'log', 'program'],
  ['the syncs of the log before it is copied in the background', ['background'], 'log', 'copier'],
  ['the syncs of the database behind a copy of all of the log', ['background'], 'database', 'copier'],
];

for (const mode of ['itself', 'background'] as const) {
  const states = suite<World>(`states after a power cut, the copying by ${mode}`);

  states.before(async (world) => {
    Object.assign(world, await work(mode));
  });

  states.after(({ dir, desk }) => {
    for (const directory of [dir, desk]) rmSync(directory, { recursive: true });
  });

  states('none loses or damages anything, with checkpoints of the store and from outside', (world) => {
    const wanted = TIMES * (mode === 'background' ? 1_000 : 500);
    const found = search(world, { states: wanted });
    assert.equal(Object.fromEntries(found.faults), {});
    assert.ok(found.states > 0.9 * wanted, `${found.states} states`);
    assert.ok(found.acknowledged > 600, `${found.acknowledged} check-ins`);
  });

  for (const [what, , file, by] of LEFT_OUT.filter(([, modes]) => modes.includes(mode))) {
    states(`some do where a disk leaves out ${what}`, (world) => {
      const who = whoIn(world.steps);
      const leavesOut = (step: Sync) => step.file === file && who(step) === by;
      const finds = (states: number) =>
        search(world, { states, leavesOut, untilFirst: true }).faults.size > 0;
      assert.ok(DENSITIES.some(finds));
    });
  }

  states.run();
}
