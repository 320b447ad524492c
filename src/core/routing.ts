/**
 * Who is told about an alert and when, and why not the others (`spec §2 alert_email`, `decisions: Alerts`, `extensions:
 * Who is told, and how`). `judge` decides it, both for what is sent and for what `explain` shows.
 */
import { MINUTE, SECOND } from '../text/durations.ts';
import type { RouteRule } from './channel.ts';
import { type CaseChannel, type ChannelEvent, type ChannelKind, keepsIncidents } from './channel.ts';
import { openingFrom } from './hours/hours.ts';
import type { Wait } from './hours/wait.ts';

export type Channel = 'webhook' | 'email' | ChannelKind;

/** One send that the outbox tracks: `target` is the id of a webhook or of a channel, or an email address. */
export interface Route {
  channel: Channel;
  target: string;
}

/** With the time of its first attempt; without one it goes at once. */
export interface PlannedRoute extends Route {
  /** In milliseconds since the epoch. */
  at?: number;
  waits?: Wait;
}

/** What of a channel decides what is sent there. */
export type RoutedChannel = Pick<CaseChannel, 'id' | 'kind'> & RouteRule;

export interface Targets {
  /** Email addresses of the case's members. */
  members: readonly string[];
  /** Ids of the case's webhooks. */
  webhooks: readonly string[];
  channels: readonly RoutedChannel[];
  /** The routes of members and webhooks that have one, by `routeKey`; the others get everything, at once. */
  routes: ReadonlyMap<string, RouteRule>;
}

/** What of an alert decides who is told. */
export interface Occasion {
  event: ChannelEvent;
  /** The tags of the snitch; none for a notice. */
  tags: readonly string[];
  /** Whether this is the snitch's first alert: it was pending. */
  isFirst: boolean;
  /** The targets that were sent an earlier alert of the same outage, by `routeKey`. */
  told: ReadonlySet<string>;
  /** The targets for which an earlier alert of the current state still waits, by `routeKey`; none when absent. */
  waiting?: ReadonlySet<string>;
  /** The targets for which an earlier alert of the same outage was dropped, by `routeKey`; none when absent. */
  spared?: ReadonlySet<string>;
  /** When the alert is decided, in milliseconds since the epoch. */
  now: number;
  /** When the outage it is part of began; the same as `now` if there is none. */
  since: number;
}

/** When a target is told, or why it is not, in words that follow its name. */
export type Plan = { at: number; waits: Wait | null; why?: never } | { why: string };

export interface Judged extends Route {
  /** Null for a member or webhook without a route of its own. */
  rule: RouteRule | null;
  plan: Plan;
}

/** What identifies a target within a case: addresses are the same in upper and lower case. */
export function routeKey({ channel, target }: Route): string {
  return channel === 'email' ? target.toLowerCase() : target;
}

/**
 * Every webhook of the case; the snitch's own list of addresses if it has one, else all members; and the channels: each
 * with what its route makes of the alert. An address on the list gets all four alerts of the snitch at once, whatever
 * its route as a member: whoever wrote it there meant this snitch.
 */
export function judge(alertEmail: readonly string[], targets: Targets, occasion: Occasion): Judged[] {
  const { members, webhooks, channels, routes } = targets;
  const own = alertEmail.length > 0;
  const others: Route[] = [...toWebhooks(webhooks), ...toAddresses(own ? alertEmail : members)];
  return [
    ...others.map((one) => {
      const isNamed = own && one.channel === 'email';
      const rule = isNamed ? null : (routes.get(routeKey(one)) ?? null);
      return { ...one, rule, plan: planOf(one, rule, occasion) };
    }),
    ...channels.map((channel): Judged => {
      const one: Route = { channel: channel.kind, target: channel.id };
      return { ...one, rule: channel, plan: planOf(one, channel, occasion) };
    }),
  ];
}

/** Whom an alert is sent to, and when. */
export function route(alertEmail: readonly string[], targets: Targets, occasion: Occasion): PlannedRoute[] {
  return planned(judge(alertEmail, targets, occasion));
}

/** The targets that take a notice about the service itself. @param targets only with the webhooks that want notices */
export function routeOfNotice(targets: Targets, now: number): PlannedRoute[] {
  return route([], targets, noticeAt(now));
}

/**
 * Who is told that one of a case's channels refuses: all other targets that people read, whatever their events, in
 * their hours. Not a service for incidents: nothing would close what that opened there.
 */
export function routeOfRefusal(targets: Targets, refusedId: string, now: number): PlannedRoute[] {
  const heard = targets.channels.filter(({ id, kind }) => id !== refusedId && !keepsIncidents(kind));
  const judged = judge([], { ...targets, channels: heard }, noticeAt(now));
  return planned(
    judged.map((one) => (one.rule ? { ...one, plan: timeOf(one, one.rule, noticeAt(now)) } : one)),
  );
}

function noticeAt(now: number): Occasion {
  return { event: 'blind', tags: [], isFirst: false, told: new Set(), now, since: now };
}

function planned(judged: readonly Judged[]): PlannedRoute[] {
  return judged.flatMap(({ channel, target, plan }): PlannedRoute[] => {
    if ('why' in plan) return [];
    return [{ channel, target, ...(plan.waits ? { at: plan.at, waits: plan.waits } : {}) }];
  });
}

function toWebhooks(webhooks: readonly string[]): Route[] {
  return webhooks.map((target) => ({ channel: 'webhook', target }));
}

/** One delivery per address, ignoring upper and lower case. */
function toAddresses(addresses: readonly string[]): Route[] {
  const distinct = new Map(addresses.map((address) => [address.toLowerCase(), address]));
  return [...distinct.values()].map((target): Route => ({ channel: 'email', target }));
}

function planOf(one: Route, rule: RouteRule | null, occasion: Occasion): Plan {
  if (rule === null) return planOfEverything(one, occasion);
  const why = whyPassedOver(one, rule, occasion);
  if (why !== null) return { why };
  if (occasion.waiting?.has(routeKey(one)))
    return { why: 'is told of the alarm before it when its time comes' };
  return timeOf(one, rule, occasion);
}

/**
 * Without a route every alert goes out at once, to those who joined during the outage too. But where the alarm was
 * dropped, because a route held it back until then, nobody waits for its end.
 */
function planOfEverything(one: Route, { event, told, spared, now }: Occasion): Plan {
  const key = routeKey(one);
  const isSpared = event === 'reporting' && spared?.has(key) === true && !told.has(key);
  return isSpared ? { why: 'was not told of the alarm' } : { at: now, waits: null };
}

/** Why a target is not sent an alert, in words that follow its name; null if it is sent. */
export function whyPassedOver(
  one: Route,
  { events, tags }: Pick<RouteRule, 'events' | 'tags'>,
  { event, isFirst, told, tags: own }: Occasion,
): string | null {
  const isTold = told.has(routeKey(one));
  const ends = event === 'reporting' && isTold;
  const follows = event === 'reporting' || event === 'paused';
  // What was opened at a service for incidents is closed, whatever its route takes. The job may recover in a pause, and
  // no alert tells of that.
  if (follows && isTold && keepsIncidents(one.channel)) return null;
  const untaken = whyNotTaken({ events, tags: ends ? [] : tags }, event, own);
  if (untaken !== null) return untaken;
  if (event === 'blind') return keepsIncidents(one.channel) ? 'hears only of alarms and their end' : null;
  if (keepsIncidents(one.channel)) return follows ? 'was not told of an alarm' : null;
  const takesAlarms = events.includes('missing') || events.includes('errored');
  const mustKnow = event === 'reporting' && !isFirst && takesAlarms;
  return mustKnow && !isTold ? 'was not told of the alarm' : null;
}

/** Why a route does not take an event of a snitch with the tags `own`, whatever was told before; null if it does. */
export function whyNotTaken(
  { events, tags }: Pick<RouteRule, 'events' | 'tags'>,
  event: ChannelEvent,
  own: readonly string[],
): string | null {
  if (!events.includes(event)) return `takes no ${event === 'blind' ? 'notices' : `${event} alerts`}`;
  if (event === 'blind' || tags.length === 0 || tags.some((tag) => own.includes(tag))) return null;
  return `takes only snitches tagged ${tags.join(' or ')}`;
}

/**
 * When a target is told: `after` counts from the beginning of the outage, so a reminder, or an error followed by
 * silence, is not delayed again; then the hours decide. A target that got the alarm gets its end, or a pause, without
 * `after`; notices have no `after`. What closes an incident is sent even if a pause is over by then: the job may have
 * come back in it, and no alert tells of that.
 */
function timeOf(one: Route, rule: RouteRule, occasion: Occasion): { at: number; waits: Wait | null } {
  const { event, told, now } = occasion;
  const follows = (event === 'reporting' || event === 'paused') && told.has(routeKey(one));
  const closes = follows && (event === 'reporting' || keepsIncidents(one.channel));
  const from = follows || event === 'blind' ? null : startOf(occasion);
  return whenOf(rule, { now, from, lasts: event !== 'blind' && !closes });
}

function startOf({ event, now, since }: Pick<Occasion, 'event' | 'now' | 'since'>): number {
  return event === 'missing' || event === 'errored' ? since : now;
}

/**
 * The time at which a route lets something through. It is worked out again right before the send, so a changed route
 * takes effect at once, and a changed clock does no harm.
 *
 * @param given `from`: what `after` counts from, null if it does not count; `lasts`: whether the alert is sent only
 * if its cause lasts until then. Instants in milliseconds since the epoch
 */
export function whenOf(
  { after, hours }: Pick<RouteRule, 'after' | 'hours'>,
  { now, from, lasts }: { now: number; from: number | null; lasts: boolean },
): { at: number; waits: Wait | null } {
  // What seems to begin in the future was decided while the clock was ahead: better to send it too early than never.
  const counted = from === null || from > now + MINUTE ? now : Math.max(now, from + after * SECOND);
  const at = hours === null ? counted : openingFrom(hours, counted);
  if (at > counted) return { at, waits: lasts ? 'hours' : 'opening' };
  return { at, waits: counted > now ? 'after' : null };
}
