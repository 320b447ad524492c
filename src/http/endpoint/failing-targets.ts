/** Which of the targets that an alert would go to are failing, as far as is known. */
import { withoutCredentials } from '../../api/shown-url.ts';
import type { CaseChannel } from '../../core/channel.ts';
import { deathOf } from '../../core/explanation/death.ts';
import { type FailingTarget, failureOf } from '../../core/explanation/told.ts';
import type { Route } from '../../core/routing.ts';
import type { Webhook } from '../../core/webhook.ts';
import type { LastDeath } from '../../store/reach.ts';

export interface Asked {
  emails: readonly string[];
  webhooks: readonly Webhook[];
  channels: readonly CaseChannel[];
}

export function failingTargets(
  { emails, webhooks, channels }: Asked,
  deaths: readonly LastDeath[],
): FailingTarget[] {
  const errors = new Map(deaths.map(({ channel, target, error }) => [keyOf(channel, target), error]));
  const failing = (channel: FailingTarget['channel'], target: string, name: string): FailingTarget[] => {
    const error = errors.get(keyOf(channel, target));
    return error === undefined ? [] : [{ channel, name, why: failureOf(error) }];
  };
  return [
    ...channels.flatMap((one) => {
      const error = failureOfChannel(one, errors);
      return error === undefined ? [] : [{ channel: one.kind, name: one.name, why: failureOf(error) }];
    }),
    ...webhooks.flatMap(({ id, url }) => failing('webhook', id, withoutCredentials(url))),
    ...emails.flatMap((address) => failing('email', address, address)),
  ];
}

/** How each target failed, in words that follow its name; null for those that did not. */
export function failuresBy(
  channels: readonly CaseChannel[],
  deaths: readonly LastDeath[],
): (one: Route) => string | null {
  const errors = new Map(deaths.map(({ channel, target, error }) => [keyOf(channel, target), error]));
  return ({ channel, target }) => {
    const own = channels.find(({ id }) => id === target);
    const error = own ? failureOfChannel(own, errors) : errors.get(keyOf(channel, target));
    return error === undefined ? null : failureOf(error);
  };
}

/** Ids of webhooks and channels, and addresses in lower case. */
export function failingKeys(channels: readonly CaseChannel[], deaths: readonly LastDeath[]): Set<string> {
  const errors = new Map(deaths.map(({ channel, target, error }) => [keyOf(channel, target), error]));
  const others = deaths.filter(({ channel }) => channel === 'webhook' || channel === 'email');
  return new Set([
    ...channels.filter((channel) => failureOfChannel(channel, errors) !== undefined).map(({ id }) => id),
    ...others.map(({ channel, target }) => (channel === 'email' ? target.toLowerCase() : target)),
  ]);
}

/** A refusal counts until something is delivered or the settings change: the channel itself keeps track of that. */
function failureOfChannel(
  { id, kind, refused }: CaseChannel,
  errors: ReadonlyMap<string, string | null>,
): string | null | undefined {
  if (refused) return refused.error;
  const error = errors.get(keyOf(kind, id));
  return error !== undefined && deathOf(error) === 'given up' ? error : undefined;
}

function keyOf(channel: string, target: string): string {
  return `${channel} ${channel === 'email' ? target.toLowerCase() : target}`;
}
