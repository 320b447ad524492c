import { NOTICE_NAMES } from '../../core/alert.ts';
import { type BlindWindow, NOTICE_AFTER, postpone } from '../../core/blind-window.ts';
import type { Transaction } from '../transaction.ts';
import { insertBlindNotice } from './alerts.ts';
import { isolate } from './isolation.ts';
import { setSetting } from './settings.ts';
import { getRules, getState, saveState, toState } from './states.ts';

/** Snitches that one call looks at. */
const SLICE = 500;

/** Keeps the window, with all its postponements still to be made, and the fact that the daemon lives at its end. */
export async function openBlindWindow(tx: Transaction, { start, end }: BlindWindow): Promise<void> {
  await tx.run(`INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES (?, ?, '')`, start, end);
  await setSetting(tx, 'liveness', String(end));
}

interface WindowRow {
  id: number;
  started_at: number;
  ended_at: number;
  cursor: string;
}

/**
 * Looks at the next slice of snitches for the oldest window that is not finished, and after the last one tells the
 * teams; false when no window is left. A crash between two slices goes on with the next one.
 */
export async function postponeSlice(tx: Transaction, now: number): Promise<boolean> {
  const row = await tx.get<WindowRow>(
    `SELECT id, started_at, ended_at, cursor FROM blind_windows WHERE cursor IS NOT NULL ORDER BY id LIMIT 1`,
  );
  if (!row) return false;
  const window: BlindWindow = { start: row.started_at, end: row.ended_at };
  const candidates = await tx.all<{ token: string }>(
    'SELECT token FROM snitch_states WHERE token > ? ORDER BY token LIMIT ?',
    row.cursor,
    SLICE,
  );
  for (const { token } of candidates) {
    // A row that cannot be postponed is reported by the sweep, when it is due.
    await isolate(tx, () => postponeOne(tx, row.id, token, window));
  }
  const last = candidates.at(-1);
  if (last && candidates.length === SLICE) {
    await tx.run('UPDATE blind_windows SET cursor = ? WHERE id = ?', last.token, row.id);
  } else {
    await finishWindow(tx, row.id, window, now);
  }
  return true;
}

async function postponeOne(
  tx: Transaction,
  windowId: number,
  token: string,
  window: BlindWindow,
): Promise<void> {
  const row = await getState(tx, token);
  if (row?.due_at == null) return;
  const { timezone } = await getRules(tx, row.case_id);
  const postponed = postpone(toState(row), window, timezone, tx.calendar);
  if (!postponed) return;
  await saveState(tx, row, postponed, row.thread_id);
  await tx.run(
    'INSERT INTO postponements (window_id, case_id, token) VALUES (?, ?, ?)',
    windowId,
    row.case_id,
    token,
  );
}

async function finishWindow(
  tx: Transaction,
  windowId: number,
  window: BlindWindow,
  now: number,
): Promise<void> {
  await tx.run('UPDATE blind_windows SET cursor = NULL WHERE id = ?', windowId);
  if (window.end - window.start <= NOTICE_AFTER) return;
  const affected = await tx.all<{ case_id: string; count: number }>(
    `SELECT case_id, COUNT(*) AS count FROM postponements
     WHERE window_id = ? AND case_id IN (SELECT id FROM cases) GROUP BY case_id`,
    windowId,
  );
  for (const { case_id: caseId, count } of affected) {
    const names = await tx.all<{ name: string }>(
      `SELECT s.name FROM postponements AS p JOIN snitches AS s ON s.token = p.token
       WHERE p.window_id = ? AND p.case_id = ? ORDER BY p.token LIMIT ?`,
      windowId,
      caseId,
      NOTICE_NAMES,
    );
    const notice = { ...window, postponed: names.map(({ name }) => name).sort(), postponedCount: count };
    await insertBlindNotice(tx, caseId, notice, now);
  }
}
