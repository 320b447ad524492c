import { type BlindSnitch, NOTICE_NAMES } from '../../core/alert.ts';
import { type BlindWindow, NOTICE_AFTER } from '../../core/blind-window.ts';
import type { Postponement } from '../../core/explanation/deadline-reasons.ts';
import { POSTPONED_AT_ONCE as SLICE } from '../blindness.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { insertBlindNotice } from './alerts.ts';
import { isolate } from './isolation.ts';
import { listAwaited, postponeAll } from './postponed-deadlines.ts';
import { setSetting } from './settings.ts';

/** A window that is stored. */
export interface KeptWindow extends BlindWindow {
  id: number;
}

/** Stores the window, with all its postponements still to be made, and records that the daemon lives at its end. */
export async function openBlindWindow(tx: Transaction, { start, end }: BlindWindow): Promise<void> {
  await tx.lock('blind windows');
  await tx.run(`INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES (?, ?, 0)`, start, end);
  await setSetting(tx, 'liveness', String(end));
}

/** A refusal this soon after another belongs to the same outage, in milliseconds. */
export const SOON_AGAIN = 2_000;

const WIDEN = `UPDATE blind_windows SET ended_at = ? WHERE id = (SELECT id FROM blind_windows
  WHERE cursor = 0 AND ended_at BETWEEN ? AND ? ORDER BY ended_at DESC LIMIT 1)`;

/**
 * One outage is one window until something was postponed for it: a stretch that begins at its end makes it longer. Call
 * it after `lock('blind windows')`.
 *
 * @returns whether there is such a window
 */
export async function widenUntouched(tx: Transaction, { start, end }: BlindWindow): Promise<boolean> {
  return (await tx.run(WIDEN, end, start - SOON_AGAIN, start)) > 0;
}

interface WindowRow {
  id: number;
  started_at: number;
  ended_at: number;
  cursor: number;
}

/**
 * Handles the next slice of snitches for the oldest unfinished window, and after the last slice notifies the cases;
 * false if no window is left. After a crash between two slices, the next slice continues.
 */
export async function postponeSlice(tx: Transaction, now: number): Promise<boolean> {
  await tx.lock('blind windows');
  const row = await tx.get<WindowRow>(
    `SELECT id, started_at, ended_at, cursor FROM blind_windows WHERE cursor IS NOT NULL ORDER BY id LIMIT 1`,
  );
  if (!row) return false;
  const window: KeptWindow = { id: row.id, start: row.started_at, end: row.ended_at };
  const awaited = await listAwaited(tx, row.cursor, SLICE);
  const all = await isolate(tx, () => postponeAll(tx, window, awaited, now));
  if (all.error !== undefined) {
    // The sweep reports a row that cannot be postponed, when it is due.
    for (const state of awaited) await isolate(tx, () => postponeAll(tx, window, [state], now));
  }
  const last = awaited.at(-1);
  if (last && awaited.length === SLICE) {
    await tx.run('UPDATE blind_windows SET cursor = ? WHERE id = ?', last.id, row.id);
  } else {
    await finishWindow(tx, window, now);
  }
  return true;
}

/** The windows that ended after `since`, in the order in which they were opened. */
export async function listWindowsSince(tx: Transaction, since: number): Promise<KeptWindow[]> {
  return tx.all<KeptWindow>(
    'SELECT id, started_at AS start, ended_at AS "end" FROM blind_windows WHERE ended_at > ? ORDER BY id',
    since,
  );
}

/** The last `limit` windows that postponed a deadline of the snitch, oldest first. */
export async function listPostponements(
  tx: Reading,
  caseId: string,
  token: string,
  limit: number,
): Promise<Postponement[]> {
  const rows = await tx.all<Postponement>(
    `SELECT w.started_at AS start, w.ended_at AS "end", p.due_at AS "dueAt"
     FROM snitches AS n CROSS JOIN blind_windows AS w CROSS JOIN postponements AS p
       ON p.window_id = w.id AND p.case_id = n.case_id AND p.snitch_id = n.id
     WHERE n.case_id = +? AND n.token = +? ORDER BY w.id DESC LIMIT +?`,
    caseId,
    token,
    limit,
  );
  return rows.reverse();
}

/** Sorts after all deadlines: nothing more is awaited. */
const LAST = Number.MAX_SAFE_INTEGER;

/** A short window that postponed something appears in the list of alerts, but nobody is sent anything. */
async function finishWindow(tx: Transaction, window: KeptWindow, now: number): Promise<void> {
  await tx.run('UPDATE blind_windows SET cursor = NULL WHERE id = ?', window.id);
  const affected = await tx.all<{ case_id: string; count: number }>(
    `SELECT case_id, COUNT(*) AS count FROM postponements
     WHERE window_id = +? AND case_id IN (SELECT id FROM cases) GROUP BY case_id`,
    window.id,
  );
  const { start, end } = window;
  for (const { case_id: caseId, count: postponedCount } of affected) {
    const named = await tx.all<BlindSnitch>(
      // The earlier schema did not store the deadline: a window that an upgrade interrupted has the present one.
      `SELECT s.token, s.name, COALESCE(p.due_at, state.due_at) AS "deadlineAt"
       FROM postponements AS p JOIN snitches AS s ON s.id = p.snitch_id
         JOIN snitch_states AS state ON state.id = p.snitch_id
       WHERE p.window_id = +? AND p.case_id = +? ORDER BY p.snitch_id LIMIT +?`,
      window.id,
      caseId,
      NOTICE_NAMES,
    );
    const snitches = named.toSorted(
      (a, b) => (a.deadlineAt ?? LAST) - (b.deadlineAt ?? LAST) || (a.name < b.name ? -1 : 1),
    );
    const postponed = named.map(({ name }) => name).sort();
    const notice = { start, end, postponed, postponedCount, snitches };
    await insertBlindNotice(tx, caseId, notice, { now, told: end - start > NOTICE_AFTER });
  }
}
