/** Names for whatever deliveries of a case went to. */
import type { Store } from '../../store/store.ts';
import { targetNames } from './wire.ts';

export async function namesIn(
  store: Pick<Store, 'listWebhooks' | 'listChannels'>,
  caseId: string,
): Promise<(target: string) => string> {
  const [webhooks, channels] = await Promise.all([store.listWebhooks(caseId), store.listChannels(caseId)]);
  return targetNames(webhooks, channels);
}
