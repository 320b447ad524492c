/** Whom the current or next alarm of a snitch goes to and when, and why not the others: as `judge` decides. */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { weekdayTime } from '../../text/times.ts';
import type { RouteRule } from '../channel.ts';
import { hoursText } from '../hours/hours.ts';
import { type Judged, judge, type Occasion, type Route, routeKey, type Targets } from '../routing.ts';
import type { Audience, FailingTarget } from './told.ts';

/** The outage that a snitch is currently in. */
export interface Outage {
  /** When its first alarm was decided, in milliseconds since the epoch. */
  since: number;
  /** The targets that were told about it, and those that wait for their time, by `routeKey`. */
  told: ReadonlySet<string>;
  waiting: ReadonlySet<string>;
}

export interface Surroundings {
  alertEmail: readonly string[];
  tags: readonly string[];
  targets: Targets;
  /** Null while there is none. */
  outage: Outage | null;
  /** When the next alarm or reminder would be decided; null if none is awaited. */
  nextAlertAt: number | null;
  now: number;
  sendsEmail: boolean;
  nameOf: (target: string) => string;
  /** How a target failed when it was last sent something, in words that follow its name; null if it did not fail. */
  failureAt: (one: Route) => string | null;
  /** Shows an instant. */
  local: (at: number) => string;
}

export function audienceOf(around: Surroundings): Audience {
  const { alertEmail, targets, sendsEmail, nameOf } = around;
  const judged = judge(alertEmail, targets, occasionOf(around, around.now));
  const named = (which: (one: Judged) => boolean) =>
    judged.filter((one) => which(one) && !('why' in one.plan)).map(({ target }) => nameOf(target));
  return {
    emails: named(({ channel }) => channel === 'email'),
    webhooks: named(({ channel }) => channel === 'webhook'),
    channels: named(({ channel }) => channel !== 'email' && channel !== 'webhook'),
    passedOver: judged.flatMap(({ channel, target, plan }) =>
      'why' in plan ? [{ name: described(channel, nameOf(target)), why: plan.why }] : [],
    ),
    later: judged.flatMap((one) => laterOf(one, around)),
    failing: judged.flatMap((one) => failingOf(one, around)),
    sendsEmail,
  };
}

function failingOf({ channel, target, plan }: Judged, { failureAt, nameOf }: Surroundings): FailingTarget[] {
  const why = 'why' in plan ? null : failureAt({ channel, target });
  return why === null ? [] : [{ channel, name: nameOf(target), why }];
}

function described(channel: Route['channel'], name: string): string {
  return channel === 'email' || channel === 'webhook' ? name : `the channel ${name}`;
}

function occasionOf({ tags, outage }: Surroundings, now: number): Occasion {
  return {
    event: 'missing',
    tags,
    isFirst: false,
    told: outage?.told ?? new Set(),
    now,
    since: outage?.since ?? now,
  };
}

/** When a target is told, if not at once; empty for the others. */
function laterOf(one: Judged, around: Surroundings): { name: string; when: string }[] {
  const { rule } = one;
  if (rule === null || 'why' in one.plan || (rule.after === 0 && rule.hours === null)) return [];
  const name = around.nameOf(one.target);
  const decidedAt = momentOf(one, around);
  if (decidedAt === null) return [{ name, when: inGeneral(rule) }];
  const again = judge(around.alertEmail, around.targets, occasionOf(around, decidedAt));
  const plan = again.find((other) => routeKey(other) === routeKey(one))?.plan;
  if (!plan || 'why' in plan || plan.waits === null) return [];
  return [{ name, when: inWords(rule, plan, around.local) }];
}

/** A waiting delivery was decided already; any other target is told about the next alarm. */
function momentOf(one: Route, { outage, nextAlertAt, now }: Surroundings): number | null {
  return outage?.waiting.has(routeKey(one)) ? now : nextAlertAt === null ? null : Math.max(now, nextAlertAt);
}

function inWords(
  { after, hours }: RouteRule,
  { at, waits }: { at: number; waits: string | null },
  local: (at: number) => string,
): string {
  const first = after > 0 ? `${afterText(after)}, ` : '';
  if (waits === 'after' || hours === null) return `${first}at ${local(at)}`;
  return `${first}from ${weekdayTime(at, hours.timezone)} (${hours.timezone}) on, when its hours begin`;
}

function inGeneral({ after, hours }: RouteRule): string {
  const words = [
    ...(after > 0 ? [afterText(after)] : []),
    ...(hours ? [`in its hours (${hoursText(hours)})`] : []),
  ];
  return words.join(', ');
}

function afterText(after: number): string {
  return `after ${durationInWords(after * SECOND)} if nobody acknowledges`;
}
