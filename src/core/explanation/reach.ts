/** Which snitches of a case alert nobody at all: what `doctor` fails for, and the dashboard shows in red. */
import type { RoutedChannel } from '../routing.ts';
import { whyPassedOver } from '../routing.ts';

/** Whom an alarm of a case reaches, as far as is known. Only what takes a missing snitch counts. */
export interface Reach {
  /** Whether a webhook or a channel takes the alarms of all snitches. */
  everything: boolean;
  /** Whether mail to a member arrives. */
  members: boolean;
  /** What the other channels take. */
  tags: ReadonlySet<string>;
  sendsEmail: boolean;
  /** Addresses, in lower case, whose mail was refused last. */
  bounced: ReadonlySet<string>;
}

export interface ReachedBy {
  members: readonly string[];
  /** Ids of the webhooks. */
  webhooks: readonly string[];
  channels: readonly RoutedChannel[];
  /** Ids of webhooks and channels, and addresses in lower case, that took nothing when they were last sent something. */
  failing: ReadonlySet<string>;
  sendsEmail: boolean;
}

export function reachOf({ members, webhooks, channels, failing, sendsEmail }: ReachedBy): Reach {
  const takers = channels.filter((channel) => !failing.has(channel.id) && takesMissing(channel));
  return {
    everything: webhooks.some((id) => !failing.has(id)) || takers.some(({ tags }) => tags.length === 0),
    members: sendsEmail && members.some((address) => !failing.has(address.toLowerCase())),
    tags: new Set(takers.flatMap(({ tags }) => tags)),
    sendsEmail,
    bounced: failing,
  };
}

/** Of a snitch that has the tags it wants. */
function takesMissing(channel: RoutedChannel): boolean {
  const { tags } = channel;
  return whyPassedOver(channel, { event: 'missing', tags, isFirst: false, told: new Set() }) === null;
}

/** Whether somebody hears of every snitch, whatever its tags and addresses are: then none needs to be looked at. */
export function reachesAll({ everything, members, bounced }: Reach): boolean {
  return everything || (members && bounced.size === 0);
}

export function reaches(
  { everything, members, tags: taken, sendsEmail, bounced }: Reach,
  { tags, alertEmail }: { tags: readonly string[]; alertEmail: readonly string[] },
): boolean {
  if (everything || tags.some((tag) => taken.has(tag))) return true;
  if (alertEmail.length === 0) return members;
  return sendsEmail && alertEmail.some((address) => !bounced.has(address.toLowerCase()));
}

/** What is known of the snitches whose alarms reach nobody. */
export interface Unreached {
  /** Some of their names. */
  names: readonly string[];
  /** Whether there are more of them than names. */
  more: boolean;
  /** Whether the alarms of no snitch at all reach anybody; true also of a case without snitches. */
  all: boolean;
}

/**
 * What is wrong, in a sentence without its end; null where somebody hears of every snitch.
 *
 * @param why in words, of a snitch without tags and addresses of its own
 */
export function unreachedInWords({ names, more, all }: Unreached, why: string): string | null {
  if (all) return `nobody would be told of any alert: ${why}`;
  if (names.length === 0) return null;
  const shown = `${names.join(', ')}${more ? ' and more' : ''}`;
  return `nobody would be told of an alert of ${shown}: ${why}`;
}
