/**
 * Fills a database with many snitches in a minute, which check-ins over HTTP would take an hour for.
 *
 *   node bench/million-database.ts DIR [--snitches 1000000] [--check-ins 10] [--spread-h 24] [--away-min 60] [--clean]
 *
 * All are daily, healthy and of one case; each checked in once a day, at a time of its own within the first `spread-h`
 * hours of the day. The daemon is taken to have died `away-min` minutes ago, with its log full, unless `--clean` is
 * given. All that this knows of the tables is in `Tables`.
 */
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { databasePath } from '../src/store/sqlite/connection.ts';
import { openStore } from '../src/store/sqlite/sqlite-store.ts';
import { DAY, HOUR, MINUTE } from '../src/text/durations.ts';

export interface Filling {
  dataDir: string;
  snitches: number;
  /** Check-ins of each, one a day. */
  checkIns: number;
  /** The check-ins of a day come within so many milliseconds after midnight in UTC. */
  spread: number;
  /** How long ago the daemon was last seen alive, in milliseconds. */
  away: number;
  /** The present time, in milliseconds since the epoch. */
  now: number;
}

/** Statements that touch the log at the end of an unclean life, a transaction for each hundred. */
const IN_THE_LOG = 5_000;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** The token of the snitch `number`: the same in each run, and in no order, as real ones. */
export function tokenOf(number: number): string {
  let state = (number + 1) * 0x9e3779b1;
  let token = '';
  while (token.length < 26) {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35) + token.length;
    token += LETTERS[(state >>> 16) & 31];
  }
  return token;
}

/** What is known of the tables; the rest of the file is not changed by a new schema. */
const Tables = {
  /** `last`: the time of the newest check-in of snitch `n`; `due`: its deadline. */
  fill: `
    INSERT INTO snitches (id, token, case_id, name, notes, tags, alert_email, created_at)
      SELECT n + 1, token, :case, 'job ' || n || ' on a host', '', '["nightly"]', '[]', last - :days * :day FROM made;
    INSERT INTO snitch_states (id, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at, look_at,
        postponed, last_check_in_id, check_in_count, first_check_ins)
      SELECT n + 1, :case, 'daily', 'basic', 'healthy', last, last, due, due, 0, (:days - 1) * :count + n + 1, :days,
        (SELECT unhex(group_concat(printf('%012x', last - (:days - 1 - d.value) * :day), '' ORDER BY d.value))
         FROM generate_series(0, :days - 1) AS d)
      FROM made;
    INSERT INTO check_ins (id, previous_id, snitch_id, number, at, outcome, message, source)
      SELECT d.value * :count + n + 1, CASE WHEN d.value > 0 THEN (d.value - 1) * :count + n + 1 END, n + 1,
        d.value + 1, last - (:days - 1 - d.value) * :day, 'healthy', '1.2 GB in 3 minutes', '192.0.2.7'
      FROM generate_series(0, :days - 1) AS d CROSS JOIN made;
    INSERT INTO snitch_tags (case_id, tag, snitch_id) SELECT :case, 'nightly', n + 1 FROM made;
    INSERT INTO status_counts (case_id, status, count) VALUES (:case, 'healthy', :count);`,
  /** Writes to the snitch numbered `?` as a check-in would. */
  touch: 'UPDATE snitch_states SET last_check_in_at = last_check_in_at + 1 WHERE id = ?',
  liveness: `INSERT INTO settings (name, value) VALUES ('liveness', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
};

/** @returns the id of the case */
export async function fillDatabase(filling: Filling): Promise<string> {
  const store = openStore({ dataDir: filling.dataDir, clock: () => filling.now });
  const owner = await store.createCase(
    {
      name: 'Operations',
      timezone: 'UTC',
      members: ['team@example.com'],
      reminders: 'period',
      errorNotices: true,
      maxSnitches: null,
      onHold: false,
    },
    filling.now,
  );
  await store.close();
  const db = new Database(databasePath(filling.dataDir));
  try {
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.pragma('cache_size = -1000000');
    db.pragma('temp_store = MEMORY');
    makeSnitches(db, filling);
    fill(db, owner.id, filling);
    db.prepare(Tables.liveness).run(String(filling.now - filling.away));
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  return owner.id;
}

/** A temporary table with the number, the token and the times of each. */
function makeSnitches(db: Database.Database, { snitches, spread, away, now }: Filling): void {
  const died = now - away;
  const midnight = Math.floor(died / DAY) * DAY;
  db.exec('CREATE TEMP TABLE made (n INTEGER PRIMARY KEY, token TEXT, last INTEGER, due INTEGER)');
  const insert = db.prepare('INSERT INTO made VALUES (?, ?, ?, ?)');
  db.transaction(() => {
    for (let n = 0; n < snitches; n += 1) {
      const today = midnight + Math.floor((n / snitches) * spread);
      const last = today <= died ? today : today - DAY;
      insert.run(n, tokenOf(n), last, Math.floor(last / DAY) * DAY + 2 * DAY);
    }
  })();
}

function fill(db: Database.Database, caseId: string, { snitches, checkIns }: Filling): void {
  const values: Record<string, string> = {
    case: `'${caseId}'`,
    count: String(snitches),
    days: String(checkIns),
    day: String(DAY),
  };
  db.table('generate_series', {
    columns: ['value'],
    parameters: ['lowest', 'highest'],
    *rows(...bounds: unknown[]) {
      for (let value = Number(bounds[0]); value <= Number(bounds[1]); value += 1) yield { value };
    },
  });
  db.exec(`BEGIN; ${Tables.fill.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')}; COMMIT`);
}

/** Leaves a log behind that nobody copied into the database; the process must end without closing anything. */
export function dirty({ dataDir, snitches }: Pick<Filling, 'dataDir' | 'snitches'>): void {
  const db = new Database(databasePath(dataDir));
  db.pragma('wal_autocheckpoint = 0');
  const touch = db.prepare(Tables.touch);
  for (let count = 0; count < IN_THE_LOG; count += 100) {
    db.transaction(() => {
      for (let n = count; n < count + 100; n += 1) touch.run(1 + ((n * 7_919) % snitches));
    })();
  }
}

if (import.meta.main) {
  const { values: given, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      snitches: { type: 'string', default: '1000000' },
      'check-ins': { type: 'string', default: '10' },
      'spread-h': { type: 'string', default: '24' },
      'away-min': { type: 'string', default: '60' },
      clean: { type: 'boolean', default: false },
    },
  });
  const [dataDir] = positionals;
  if (dataDir === undefined) throw new Error('name the directory that is to hold the database');
  const filling: Filling = {
    dataDir,
    snitches: Number(given.snitches),
    checkIns: Number(given['check-ins']),
    spread: Number(given['spread-h']) * HOUR,
    away: Number(given['away-min']) * MINUTE,
    now: Date.now(),
  };
  await fillDatabase(filling);
  if (!given.clean) {
    dirty(filling);
    process.kill(process.pid, 'SIGKILL');
  }
}
