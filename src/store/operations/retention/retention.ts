import { KEPT_FOR } from '../../../core/activity/activity.ts';
import type { RetentionLimits } from '../../sweep.ts';
import type { Transaction } from '../../transaction.ts';
import { pruneActivity } from '../activity/record.ts';
import { getSetting, setSetting } from '../settings.ts';
import { KEPT_FOR as SILENCES_KEPT_FOR } from '../silences/rows.ts';
import { pruneChanges } from '../status-pages/changes.ts';
import { pruneAlerts } from './alerts.ts';

/** The most rows that one call examines. */
const SLICE = 500;

/** Deletes a slice of what is no longer kept; false when the pass is complete. */
export async function prune(tx: Transaction, limits: RetentionLimits): Promise<boolean> {
  await tx.lock('retention');
  const cursor = Number((await getSetting(tx, 'retention.cursor')) ?? 0);
  // Once a pass, before the first check-ins: those that stay for a long outage are looked through each time.
  if (cursor === 0 && (await pruneAlerts(tx, limits.olderThan))) return true;
  const moreCheckIns = await pruneCheckIns(tx, limits, cursor);
  await tx.run(
    'DELETE FROM postponements WHERE window_id IN (SELECT id FROM blind_windows WHERE ended_at < ?)',
    limits.olderThan,
  );
  await tx.run('DELETE FROM blind_windows WHERE ended_at < ? AND cursor IS NULL', limits.olderThan);
  await tx.run(
    'DELETE FROM silences WHERE over_at < ? AND release_cursor IS NULL',
    limits.now - SILENCES_KEPT_FOR,
  );
  const moreActivity = await pruneActivity(tx, limits.now - KEPT_FOR, SLICE);
  const moreChanges = await pruneChanges(tx, SLICE);
  return moreCheckIns || moreActivity || moreChanges;
}

interface LoggedRow {
  id: number;
  snitch_id: number;
  number: number;
  at: number;
}

/** Walks the log from its oldest row, slice by slice, and starts again at the front after the end. */
async function pruneCheckIns(tx: Transaction, limits: RetentionLimits, cursor: number): Promise<boolean> {
  const rows = await tx.all<LoggedRow>(
    'SELECT id, snitch_id, number, at FROM check_ins WHERE id > +? ORDER BY id LIMIT +?',
    cursor,
    SLICE,
  );
  for (const row of rows) {
    if (await isKept(tx, row, limits)) continue;
    await tx.run('DELETE FROM check_ins WHERE id = ?', row.id);
    await tx.run('DELETE FROM check_in_outputs WHERE check_in_id = ?', row.id);
  }
  const last = rows.at(-1);
  const more = last !== undefined && rows.length === SLICE;
  await setSetting(tx, 'retention.cursor', String(more ? last.id : 0));
  return more;
}

async function isKept(tx: Transaction, row: LoggedRow, limits: RetentionLimits): Promise<boolean> {
  const state = await tx.get<{ check_in_count: number }>(
    'SELECT check_in_count FROM snitch_states WHERE id = ?',
    row.snitch_id,
  );
  if (!state) return false;
  if (row.number === state.check_in_count) return true;
  return row.number > state.check_in_count - limits.checkIns && row.at >= limits.olderThan;
}
