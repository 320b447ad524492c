/** The routes of a case's targets: channels have theirs in their rows, webhooks and members in a table of routes. */
import type { Act } from '../../../core/activity/activity.ts';
import { EVERYTHING, isChannelKind, isEverything, type RouteRule } from '../../../core/channel.ts';
import type { Hours } from '../../../core/hours/hours.ts';
import { type Route, routeKey } from '../../../core/routing.ts';
import type { Reading, Transaction } from '../../transaction.ts';
import { recordRouteEdit } from '../activity/of-targets.ts';
import { lookAnew } from './look-anew.ts';

export interface RuleRow {
  events: string;
  tags: string;
  delay: number;
  hours: string | null;
}

export function toRule({ events, tags, delay, hours }: RuleRow): RouteRule {
  return {
    events: JSON.parse(events) as RouteRule['events'],
    tags: JSON.parse(tags) as string[],
    after: delay,
    hours: hours === null ? null : (JSON.parse(hours) as Hours),
  };
}

export function hoursColumn(hours: Hours | null): string | null {
  return hours === null ? null : JSON.stringify(hours);
}

/** The routes of the webhooks and members that have one, by `routeKey`. */
export async function listRoutes(tx: Reading, caseId: string): Promise<ReadonlyMap<string, RouteRule>> {
  const rows = await tx.all<RuleRow & { target: string }>(
    'SELECT target, events, tags, delay, hours FROM routes WHERE case_id = +?',
    caseId,
  );
  return new Map(rows.map((row) => [row.target, toRule(row)]));
}

/**
 * Changes the route of a webhook or a member, and has what waits for it examined again. Accepting `blind` means that a
 * webhook wants notices.
 *
 * @param one of the case, as the caller has checked
 */
export async function updateRoute(
  tx: Transaction,
  act: Act,
  caseId: string,
  one: Route,
  changes: Partial<RouteRule>,
): Promise<RouteRule> {
  const key = routeKey(one);
  const before = (await listRoutes(tx, caseId)).get(key) ?? (await plainRule(tx, one));
  const rule = { ...before, ...changes };
  if (one.channel === 'webhook') {
    const notices = rule.events.includes('blind') ? 1 : 0;
    await tx.run('UPDATE webhooks SET notices = ? WHERE id = ?', notices, one.target);
  }
  await deleteRoute(tx, caseId, key);
  if (!isEverything(rule, one.channel === 'webhook')) {
    await tx.run(
      'INSERT INTO routes (case_id, target, events, tags, delay, hours) VALUES (?, ?, ?, ?, ?, ?)',
      caseId,
      key,
      JSON.stringify(rule.events),
      JSON.stringify(rule.tags),
      rule.after,
      hoursColumn(rule.hours),
    );
  }
  await lookAnew(tx, one);
  await recordRouteEdit(tx, act, caseId, one, [before, rule]);
  return rule;
}

/** What a webhook or a member without a route accepts. */
async function plainRule(tx: Reading, { channel, target }: Route): Promise<RouteRule> {
  if (channel !== 'webhook') return EVERYTHING;
  const row = await tx.get<{ notices: number }>('SELECT notices FROM webhooks WHERE id = ?', target);
  if (row?.notices === 1) return EVERYTHING;
  return { ...EVERYTHING, events: EVERYTHING.events.filter((event) => event !== 'blind') };
}

/** @param key as made by `routeKey` */
export async function deleteRoute(tx: Transaction, caseId: string, key: string): Promise<void> {
  await tx.run('DELETE FROM routes WHERE case_id = ? AND target = ?', caseId, key);
  tx.forget();
}

/** Removes the routes of those who are no longer members, and has what waits for them examined again. */
export async function forgetMembers(
  tx: Transaction,
  caseId: string,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const left = new Set(after.map((address) => address.toLowerCase()));
  for (const target of before.filter((address) => !left.has(address.toLowerCase()))) {
    const one: Route = { channel: 'email', target };
    await deleteRoute(tx, caseId, routeKey(one));
    await lookAnew(tx, one);
  }
}

/** The rule that now decides what a target gets; null if the target is gone. */
export async function ruleOf(tx: Reading, caseId: string, one: Route): Promise<RouteRule | null> {
  if (isChannelKind(one.channel)) {
    const row = await tx.get<RuleRow>(
      'SELECT events, tags, delay, hours FROM channels WHERE id = +? AND case_id = +?',
      one.target,
      caseId,
    );
    return row ? toRule(row) : null;
  }
  if (!(await isThere(tx, caseId, one))) return null;
  const row = await tx.get<RuleRow>(
    'SELECT events, tags, delay, hours FROM routes WHERE case_id = +? AND target = +?',
    caseId,
    routeKey(one),
  );
  return row ? toRule(row) : EVERYTHING;
}

async function isThere(tx: Reading, caseId: string, one: Route): Promise<boolean> {
  if (one.channel === 'webhook') {
    const row = await tx.get('SELECT id FROM webhooks WHERE id = +? AND case_id = +?', one.target, caseId);
    return row !== undefined;
  }
  const owner = await tx.get<{ members: string }>('SELECT members FROM cases WHERE id = +?', caseId);
  const members = owner ? (JSON.parse(owner.members) as string[]) : [];
  return members.some((target) => routeKey({ channel: 'email', target }) === routeKey(one));
}
