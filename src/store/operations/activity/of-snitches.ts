/** Activity entries about changes to snitches. */
import type { Act, Action } from '../../../core/activity/activity.ts';
import { changesBetween, type Details, type FieldChange, severalOf } from '../../../core/activity/changes.ts';
import { areSameNeeds, needOf } from '../../../core/needs/needs.ts';
import type { PauseUntil, SnitchFields, SnitchState } from '../../../core/snitch.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { record } from './record.ts';

/** A snitch by its name at the time. */
export interface Named {
  token: string;
  name: string;
}

/** The names of a snitch's fields in the API. */
const FIELDS: Record<keyof SnitchFields, string> = {
  name: 'name',
  publicName: 'public_name',
  notes: 'notes',
  tags: 'tags',
  alertEmail: 'alert_email',
  interval: 'interval',
  alertType: 'alert_type',
  schedule: 'schedule',
  timezone: 'timezone',
  grace: 'grace',
  maxRuntime: 'max_runtime',
  minRuntime: 'min_runtime',
  failuresBeforeAlert: 'failures_before_alert',
  expect: 'expect',
  needs: 'needs',
};

/** Notes are long, and people keep credentials in them. */
const UNTOLD = new Set(['notes']);

type Described = Pick<SnitchFields, 'name' | 'publicName' | 'notes' | 'tags' | 'alertEmail' | 'needs'>;

/** What a person says about a snitch. */
export interface Said {
  described: Described;
  state: SnitchState;
}

export async function recordEdit(
  tx: Transaction,
  act: Act,
  caseId: string,
  { token, before, after }: { token: string; before: Said; after: Said },
): Promise<void> {
  const [from, to] = areSameNeeds(before.described.needs ?? [], after.described.needs ?? [])
    ? [before.described, after.described]
    : [await withNames(tx, before.described), await withNames(tx, after.described)];
  const changes = changesBetween({ ...before.state, ...from }, { ...after.state, ...to }, FIELDS, UNTOLD);
  await recordChanges(tx, act, caseId, { token, name: after.described.name }, changes);
}

/** Needs by their names at the time: a token means nothing to people, and anybody who has it could check in with it. */
async function withNames(tx: Reading, described: Described): Promise<Described> {
  const needs: string[] = [];
  for (const need of described.needs ?? []) {
    const row =
      'tag' in needOf(need)
        ? undefined
        : await tx.get<{ name: string }>('SELECT name FROM snitches WHERE token = +?', need);
    needs.push(row?.name ?? need);
  }
  return { ...described, needs };
}

/** Records nothing if nothing changed. */
export async function recordChanges(
  tx: Transaction,
  act: Act,
  caseId: string,
  snitch: Named,
  changes: Readonly<Record<string, FieldChange>>,
): Promise<void> {
  if (Object.keys(changes).length > 0) await recordOf(tx, act, caseId, 'snitch.changed', snitch, { changes });
}

export function recordOf(
  tx: Transaction,
  act: Act,
  caseId: string,
  action: Action,
  { token, name }: Named,
  details: Details = {},
): Promise<void> {
  return record(tx, act, { caseId, action, subject: { id: token, name }, details });
}

/** One entry for all of them. A single snitch gets the entry itself. */
export async function recordMany(
  tx: Transaction,
  act: Act,
  caseId: string,
  { one, several }: { one: Action; several: Action },
  snitches: readonly Named[],
  details: Details,
): Promise<void> {
  const [first, ...others] = snitches;
  if (!first) return;
  if (others.length === 0) return recordOf(tx, act, caseId, one, first, details);
  const names = snitches.map(({ name }) => name);
  const subject = { id: null, name: `${names.length} snitches` };
  await record(tx, act, { caseId, action: several, subject, details: { ...details, ...severalOf(names) } });
}

export function untilOf(until: PauseUntil): string | number {
  return until.kind === 'time' ? until.at : until.kind;
}

export async function namedBy(tx: Reading, token: string): Promise<Named> {
  const row = await tx.get<{ name: string }>('SELECT name FROM snitches WHERE token = +?', token);
  return { token, name: row?.name ?? '' };
}
