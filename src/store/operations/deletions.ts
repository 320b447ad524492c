/**
 * Cases that are being deleted. A million snitches take longer than a client waits, so what is left of such a case is
 * deleted in the background, even after a restart: half a case is of use to nobody.
 */
import type { Actor } from '../../core/activity/activity.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { deleteCase, emptyCaseSlice, getCase } from './cases.ts';
import { getSetting, setSetting } from './settings.ts';

interface Deletion {
  id: string;
  /** Who asked for it. */
  by: Actor;
}

const PLAN = 'cases.deleted';

/** @returns false if there is no such case */
export async function planDeletion(tx: Transaction, id: string, by: Actor): Promise<boolean> {
  await tx.lock('deletions');
  if (!(await getCase(tx, id))) return false;
  const planned = await planOf(tx);
  if (planned.some((one) => one.id === id)) return true;
  await setSetting(tx, PLAN, JSON.stringify([...planned, { id, by } satisfies Deletion]));
  return true;
}

/** Takes a slice of the first that is planned, or deletes what little is left of it; false when none is planned. */
export async function deletionSlice(tx: Transaction, now: number): Promise<boolean> {
  if ((await planOf(tx)).length === 0) return false;
  await tx.lock('deletions');
  const [first, ...others] = await planOf(tx);
  if (!first) return false;
  if (await emptyCaseSlice(tx, first.id)) return true;
  await deleteCase(tx, { by: first.by, at: now }, first.id);
  await setSetting(tx, PLAN, JSON.stringify(others));
  return others.length > 0;
}

async function planOf(tx: Reading): Promise<Deletion[]> {
  return JSON.parse((await getSetting(tx, PLAN)) ?? '[]') as Deletion[];
}
