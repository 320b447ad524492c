/** Logs every alarm when it is decided, for comparison with what was delivered later. */
import type { Logger } from 'pino';
import { isAlarm } from '../core/alert.ts';
import type { Store } from '../store/store.ts';
import { BoundedLog } from './outbox/bounded-log.ts';

/** @returns a function that logs how many lines have been left out so far */
export function logAlarms(store: Pick<Store, 'onChange'>, logger: Pick<Logger, 'info'>): () => void {
  const log = new BoundedLog({ logger, counted: 'alerts decided' });
  store.onChange((change) => {
    if (change.kind !== 'alert' || !isAlarm(change.type)) return;
    const { alertId, type, token, name, deliveries } = change;
    const message = deliveries === 0 ? 'alert decided, and there is nobody to tell' : 'alert decided';
    log.info({ alert: alertId, type, snitch: name, token, deliveries }, message);
  });
  return () => log.flush();
}
