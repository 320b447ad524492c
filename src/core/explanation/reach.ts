/**
 * Which snitches of a case alert nobody at all: `doctor` fails because of them, and the dashboard shows them in red.
 */
import type { RouteRule } from '../channel.ts';
import { type Route, routeKey, type Targets, whyPassedOver } from '../routing.ts';

/** Whom an alarm of a case reaches, as far as is known. Only a target that takes the alert `missing` counts. */
export interface Reach {
  /** Whether a webhook or a channel takes the alarms of all snitches. */
  everything: boolean;
  /** Whether mail arrives at a member who takes the alarms of all snitches. */
  members: boolean;
  /** The tags of the other members at whom mail arrives. */
  memberTags: ReadonlySet<string>;
  /** The tags of the other webhooks and channels. */
  tags: ReadonlySet<string>;
  sendsEmail: boolean;
  /** Addresses, in lower case, whose mail was refused last. */
  bounced: ReadonlySet<string>;
}

export interface ReachedBy {
  targets: Targets;
  /** Ids of webhooks and channels, and addresses in lower case, that did not accept what they were last sent. */
  failing: ReadonlySet<string>;
  sendsEmail: boolean;
}

export function reachOf({ targets, failing, sendsEmail }: ReachedBy): Reach {
  const { members, webhooks, channels, routes } = targets;
  const taken = (one: Route, rule = routes.get(routeKey(one))): (readonly string[])[] =>
    failing.has(routeKey(one)) || !takesMissing(one, rule) ? [] : [rule?.tags ?? []];
  const byMembers = members.flatMap((target) => (sendsEmail ? taken({ channel: 'email', target }) : []));
  const byOthers = [
    ...webhooks.flatMap((target) => taken({ channel: 'webhook', target })),
    ...channels.flatMap((channel) => taken({ channel: channel.kind, target: channel.id }, channel)),
  ];
  return {
    everything: byOthers.some((tags) => tags.length === 0),
    members: byMembers.some((tags) => tags.length === 0),
    memberTags: new Set(byMembers.flat()),
    tags: new Set(byOthers.flat()),
    sendsEmail,
    bounced: failing,
  };
}

/** Whether the target takes the alert `missing` of a snitch with the right tags. */
function takesMissing(one: Route, rule: RouteRule | undefined): boolean {
  if (!rule) return true;
  const occasion = { event: 'missing', tags: rule.tags, isFirst: false, told: new Set<string>() } as const;
  return whyPassedOver(one, rule, { ...occasion, now: 0, since: 0 }) === null;
}

/** Whether somebody is told about every snitch, whatever its tags and addresses: then none needs checking. */
export function reachesAll({ everything, members, bounced }: Reach): boolean {
  return everything || (members && bounced.size === 0);
}

export function reaches(
  { everything, members, memberTags, tags: taken, sendsEmail, bounced }: Reach,
  { tags, alertEmail }: { tags: readonly string[]; alertEmail: readonly string[] },
): boolean {
  if (everything || tags.some((tag) => taken.has(tag))) return true;
  if (alertEmail.length === 0) return members || tags.some((tag) => memberTags.has(tag));
  return sendsEmail && alertEmail.some((address) => !bounced.has(address.toLowerCase()));
}

/** What is known of the snitches whose alarms reach nobody. */
export interface Unreached {
  /** Some of their names. */
  names: readonly string[];
  /** Whether there are more of them than names. */
  more: boolean;
  /** Whether no snitch's alarms reach anybody; also true for a case without snitches. */
  all: boolean;
}

/**
 * What is wrong, as a sentence without its full stop; null if somebody is told about every snitch.
 *
 * @param why in words, for a snitch without tags and addresses of its own
 */
export function unreachedInWords({ names, more, all }: Unreached, why: string): string | null {
  if (all) return `nobody would be told of any alert: ${why}`;
  if (names.length === 0) return null;
  const shown = `${names.join(', ')}${more ? ' and more' : ''}`;
  return `nobody would be told of an alert of ${shown}: ${why}`;
}
