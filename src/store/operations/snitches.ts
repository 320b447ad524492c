import type { Act } from '../../core/activity/activity.ts';
import { Invalid, PlanLimitReached } from '../../core/errors.ts';
import { isDueAlike } from '../../core/job-schedule.ts';
import { ANY_RUN, isSameRules, rulesWith } from '../../core/judgement/rules.ts';
import { NOTHING_LEARNED } from '../../core/late-runs.ts';
import { areSameNeeds } from '../../core/needs/needs.ts';
import { apart } from '../../core/runs.ts';
import { newSnitchState, type Snitch, type SnitchFields, type SnitchState } from '../../core/snitch.ts';
import { refusedTogether } from '../../core/snitch-input.ts';
import { transition } from '../../core/transition.ts';
import { newToken } from '../identifiers.ts';
import type { Awaitable, Reading, Transaction } from '../transaction.ts';
import { recordEdit, recordOf } from './activity/of-snitches.ts';
import { requireCase } from './cases.ts';
import { lastReportOf } from './last-report.ts';
import { isOutdated, saveLearned } from './learned.ts';
import { missingSinceOf } from './missing-since.ts';
import { heldIn } from './needs/held-text.ts';
import { noteDeleted } from './needs/reliefs.ts';
import { holdOf } from './needs/shown.ts';
import { listNeeds, refuseCircle, refuseCircleOf, writeNeeds } from './needs/written.ts';
import { openRunsInLog } from './open-run.ts';
import { forgetValues } from './reports.ts';
import { dropWaiting } from './routes/waiting.ts';
import { forgetKeptBack } from './silences/alarms.ts';
import { SNITCH_COLUMNS, type SnitchRow, tagsIn, toSnitch, withChangedText } from './snitch-rows.ts';
import {
  contextFor,
  deleteState,
  getRules,
  getState,
  getStateById,
  insertState,
  type StateRow,
  saveState,
  toState,
} from './states.ts';
import { hasRoomForSnitch } from './status-counts.ts';
import { forgetChanges } from './status-pages/changes.ts';
import { changeTags, indexTags } from './tags.ts';
import { decideHeldAnew } from './triggers.ts';

export async function createSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  fields: SnitchFields,
  now: number,
): Promise<Snitch> {
  const [hasRoom] = await Promise.all([hasRoomForSnitch(tx, caseId), requireCase(tx, caseId)]);
  if (!hasRoom) throw new PlanLimitReached();
  const snitch = await insertSnitch(tx, caseId, fields, now);
  await recordOf(tx, act, caseId, 'snitch.created', snitch);
  return snitch;
}

/** The caller must have checked that there is room for it. */
export async function insertSnitch(
  tx: Transaction,
  caseId: string,
  fields: SnitchFields,
  now: number,
  token = newToken(),
): Promise<Snitch> {
  await requireCase(tx, caseId);
  const {
    interval,
    alertType,
    schedule = null,
    timezone = null,
    grace = null,
    maxRuntime = null,
    ...others
  } = fields;
  const { minRuntime, failuresBeforeAlert, expect, ...described } = others;
  const rules = rulesWith(ANY_RUN, { minRuntime, failuresBeforeAlert, expect });
  const snitch: Snitch = {
    ...described,
    publicName: fields.publicName ?? null,
    token,
    caseId,
    createdAt: now,
    state: newSnitchState(interval, alertType, { schedule, timezone, grace, maxRuntime, ...rules }),
    lastReport: null,
    missingSince: null,
    needs: fields.needs ?? [],
    hold: null,
  };
  const id = await insertRow(tx, snitch, now);
  indexTags(tx, { id, caseId }, [], snitch.tags);
  await insertState(tx, { id, token, caseId }, snitch.state);
  if (snitch.needs.length > 0) {
    await writeNeeds(tx, { id, caseId }, snitch.needs);
    await refuseCircle(tx, { id, caseId });
  }
  return snitch;
}

function insertRow(tx: Transaction, snitch: Snitch, now: number): Awaitable<number> {
  return tx.insert(
    `INSERT INTO snitches (token, case_id, name, public_name, notes, tags, alert_email, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    snitch.token,
    snitch.caseId,
    snitch.name,
    snitch.publicName ?? null,
    snitch.notes,
    JSON.stringify(snitch.tags),
    JSON.stringify(snitch.alertEmail),
    now,
  );
}

export async function getSnitch(tx: Reading, caseId: string, token: string): Promise<Snitch | null> {
  const found = await find(tx, caseId, token);
  return found ? toSnitch(found.row, found.state, await pastOf(tx, found.state)) : null;
}

/** What the log, the alerts and other snitches say about a snitch. */
async function pastOf(
  tx: Reading,
  state: StateRow,
): Promise<Pick<Snitch, 'lastReport' | 'missingSince' | 'needs' | 'hold'>> {
  const { status, due_at: dueAt } = state;
  const [lastReport, missingSince, needs, hold] = await Promise.all([
    lastReportOf(tx, state),
    missingSinceOf(tx, state),
    state.needs === null ? [] : listNeeds(tx, state.id),
    state.needs === null ? null : holdOf(tx, heldIn(state.needs), { status, dueAt }),
  ]);
  return { lastReport, missingSince, needs, hold };
}

const NO_PAST = { lastReport: null, missingSince: null, hold: null };

interface Found {
  row: SnitchRow;
  state: StateRow;
}

async function find(tx: Reading, caseId: string, token: string): Promise<Found | null> {
  const [row, state] = await Promise.all([
    tx.get<SnitchRow>(
      `SELECT ${SNITCH_COLUMNS} FROM snitches WHERE token = +? AND case_id = +?`,
      token,
      caseId,
    ),
    getState(tx, token),
  ]);
  return row && state ? { row, state } : null;
}

/**
 * Changes the fields that `changes` has. Any change to when the job is due restarts the deadline from now. A new
 * `maxRuntime` also applies to runs that are open.
 */
export async function updateSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  changes: Partial<SnitchFields>,
  now: number,
): Promise<Snitch | null> {
  const after = await changeSnitch(tx, act, caseId, token, changes, now);
  if (after) await refuseCircleOf(tx, caseId, after, changes);
  return after;
}

/** As `updateSnitch`, but several changed together may need one another in a circle until the last is written. */
export async function changeSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  changes: Partial<SnitchFields>,
  now: number,
): Promise<Snitch | null> {
  const found = await find(tx, caseId, token);
  if (!found) return null;
  const { row, state } = found;
  const before = toState(state);
  const wanted = withChanges(before, changes);
  const refused = refusedTogether(wanted);
  if (refused) throw new Invalid([refused]);
  const described = withChangedText(row, changes);
  tx.put(
    'UPDATE snitches SET name = ?, public_name = ?, notes = ?, tags = ?, alert_email = ? WHERE id = ?',
    described.name,
    described.public_name,
    described.notes,
    described.tags,
    described.alert_email,
    row.id,
  );
  if (changes.tags) await changeTags(tx, state, tagsIn(row), changes.tags);
  tx.announce({ kind: 'snitch', caseId, token });
  tx.announce({ kind: 'shown', caseId });
  // The rules are remembered, so later steps need not wait for them again.
  const [needs] = await Promise.all([listNeeds(tx, row.id), getRules(tx, caseId)]);
  await reschedule(tx, state, { before, wanted, now });
  if (changes.needs) await changeNeeds(tx, state, changes.needs, now);
  const changed = (await getStateById(tx, row.id)) ?? state;
  const after = toSnitch(described, changed, await pastOf(tx, changed));
  await recordEdit(tx, act, caseId, {
    token,
    before: { described: toSnitch(row, state, { ...NO_PAST, needs }), state: before },
    after: { described: after, state: wanted },
  });
  return after;
}

/** @throws Invalid for a token that belongs to no snitch of the case */
async function changeNeeds(
  tx: Transaction,
  { id, case_id: caseId }: StateRow,
  needs: readonly string[],
  now: number,
): Promise<void> {
  // A client that sends back the whole snitch changes nothing.
  if (areSameNeeds(await listNeeds(tx, id), needs)) return;
  await writeNeeds(tx, { id, caseId }, needs);
  await decideHeldAnew(tx, id, now);
}

function withChanges(before: SnitchState, changes: Partial<SnitchFields>): SnitchState {
  const { interval, alertType, schedule, timezone, grace, maxRuntime } = changes;
  return {
    ...before,
    interval: interval ?? before.interval,
    alertType: alertType ?? before.alertType,
    schedule: schedule === undefined ? before.schedule : schedule,
    timezone: timezone === undefined ? before.timezone : timezone,
    grace: grace === undefined ? before.grace : grace,
    maxRuntime: maxRuntime === undefined ? before.maxRuntime : maxRuntime,
    ...rulesWith(before, changes),
  };
}

/** Writes what `wanted` changes about when the job is due. */
async function reschedule(
  tx: Transaction,
  row: StateRow,
  { before, wanted: given, now }: { before: SnitchState; wanted: SnitchState; now: number },
): Promise<SnitchState> {
  const isWatchedAlike = given.maxRuntime === before.maxRuntime;
  const wanted = isWatchedAlike ? given : await withRuntime(tx, row, given, now);
  if (isOutdated(before, wanted)) await saveLearned(tx, row, NOTHING_LEARNED);
  const rules = await getRules(tx, row.case_id);
  if (isDueAlike(before, wanted)) {
    const isSaidAlike = wanted.interval === before.interval && wanted.timezone === before.timezone;
    const isJudgedAlike = isSameRules(wanted, before);
    if (!isSaidAlike || !isWatchedAlike || !isJudgedAlike) await saveState(tx, row, wanted);
    return wanted;
  }
  const context = await contextFor(tx, { id: row.id, alert_type: wanted.alertType }, rules, now);
  const rescheduled = transition(wanted, { kind: 'rescheduled' }, context).snitch;
  await saveState(tx, row, rescheduled);
  return rescheduled;
}

/** The state with the runs that its `maxRuntime` watches. Runs reported before they were watched are in the log. */
async function withRuntime(
  tx: Transaction,
  row: StateRow,
  wanted: SnitchState,
  now: number,
): Promise<SnitchState> {
  const open = row.max_runtime === null ? await openRunsInLog(tx, row) : apart(wanted).open;
  const context = await contextFor(tx, row, await getRules(tx, row.case_id), now);
  return transition(wanted, { kind: 'runtimeChanged', open }, context).snitch;
}

/** Alerts that were decided are still delivered; retention deletes the log of check-ins. */
export async function deleteSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
): Promise<boolean> {
  const found = await find(tx, caseId, token);
  if (!found) return false;
  const { row, state } = found;
  await noteDeleted(tx, state, tagsIn(row));
  tx.put('DELETE FROM snitches WHERE id = ?', row.id);
  deleteState(tx, state);
  indexTags(tx, { id: row.id, caseId }, tagsIn(row), []);
  tx.put('DELETE FROM flapping WHERE snitch_id = ?', row.id);
  forgetKeptBack(tx, row.id);
  tx.put('DELETE FROM badges WHERE snitch_id = ?', row.id);
  forgetValues(tx, row.id);
  await Promise.all([
    dropWaiting(tx, { caseId, token }, 'it was deleted before'),
    forgetChanges(tx, { id: row.id, caseId }),
  ]);
  await recordOf(tx, act, caseId, 'snitch.deleted', row);
  tx.announce({ kind: 'snitch', caseId, token });
  return true;
}
