/**
 * Makes a data directory with many snitches, to try a daemon on.
 *
 *   node bench/database/make.ts DIR [--snitches 1000000] [--history 10] [--away-min MINUTES]
 *
 * All are daily, healthy and of one case, and have checked in once a night. With `--away-min`, the daemon seems to have
 * died that long ago, so that its next start finds a blind window.
 */
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { openStore } from '../../src/store/sqlite/sqlite-store.ts';
import { MINUTE } from '../../src/text/durations.ts';
import { databaseIn, fillDatabase } from './jobs-database.ts';
import { zoneAtNoon } from './scene.ts';
import { setLiveness } from './statements.ts';

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    snitches: { type: 'string', default: '1000000' },
    history: { type: 'string', default: '10' },
    'away-min': { type: 'string' },
  },
});
const [dataDir] = positionals;
if (dataDir === undefined) {
  console.error('name the directory that is to hold the database');
  process.exit(2);
}
const now = Date.now();
const store = openStore({ dataDir, clock: () => now });
const rules = { timezone: zoneAtNoon(now), reminders: 'off', errorNotices: true } as const;
const settings = { ...rules, name: 'night', members: [], maxSnitches: null, onHold: false };
const by = { keyId: null, name: 'the measurement' };
const { id: caseId } = await store
  .by(by, now)
  .createCase(settings, now)
  .finally(() => store.close());
fillDatabase(dataDir, { caseId, count: Number(given.snitches), history: Number(given.history), now });
if (given['away-min'] !== undefined) {
  const db = new Database(databaseIn(dataDir));
  setLiveness(db, now - Number(given['away-min']) * MINUTE);
  db.close();
}
