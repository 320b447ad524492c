/** Names for all targets of a case's deliveries. */
import { withoutCredentials } from '../../api/shown-url.ts';
import type { CaseChannel } from '../../core/channel.ts';
import type { AlertWithDeliveries } from '../../core/delivery.ts';
import type { ToldAlert } from '../../core/explanation/told.ts';
import type { Webhook } from '../../core/webhook.ts';
import type { Store } from '../../store/store.ts';

export async function namesIn(
  store: Pick<Store, 'listWebhooks' | 'listChannels'>,
  caseId: string,
): Promise<(target: string) => string> {
  const [webhooks, channels] = await Promise.all([store.listWebhooks(caseId), store.listChannels(caseId)]);
  return targetNames(webhooks, channels);
}

/** An alert and its deliveries, for sentences about them; null for a notice, which concerns no single snitch. */
export function toldAlert(
  { alert, deliveries }: AlertWithDeliveries,
  nameOf: (target: string) => string,
): ToldAlert | null {
  if (!alert.snitch) return null;
  return {
    type: alert.type,
    at: alert.at,
    startedAt: alert.details.startedAt ?? null,
    flapping: (alert.details.flapping?.phase ?? 'over') !== 'over',
    deliveries: deliveries.map((delivery) => ({ ...delivery, target: nameOf(delivery.target) })),
  };
}

/**
 * Names the target of a delivery: a webhook by its URL and a channel by its name instead of its id. An email address,
 * and the id of what was deleted, stay as they are.
 */
export function targetNames(
  webhooks: readonly Webhook[],
  channels: readonly CaseChannel[] = [],
): (target: string) => string {
  const names = new Map([
    ...webhooks.map(({ id, url }) => [id, withoutCredentials(url)] as const),
    ...channels.map(({ id, name }) => [id, name] as const),
  ]);
  return (target) => names.get(target) ?? target;
}
