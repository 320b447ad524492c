/**
 * Signs the links with which alarms are acknowledged. The key is made once and kept in the database, so links still
 * work after a restart and in a restored backup. It is never shown.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkEndsAt } from '../core/acknowledgement/link.ts';
import { type Alert, isAlarm } from '../core/alert.ts';
import { StoreUnavailable } from '../core/errors.ts';
import type { AlarmLinks } from '../http/acknowledge/links.ts';
import type { ServerNoteStore } from '../store/server-notes.ts';

export interface SignedLinks extends AlarmLinks {
  /** Null for anything but an alarm of a snitch, and while there is no key. */
  urlOf(alert: Alert, baseUrl: string): string | null;
}

/**
 * Reads the key, or makes it at the first start.
 *
 * @param confirm throws if another node may be making it by now, because this one was suspended
 *   meanwhile
 * @returns null if it could not be stored: a link that cannot be verified later must not be sent
 */
export async function linkKey(
  store: Pick<ServerNoteStore, 'getSetting' | 'setSetting'>,
  confirm: () => Promise<void> = async () => {},
): Promise<string | null> {
  const kept = await store.getSetting('links.key');
  if (kept !== null) return kept;
  await confirm();
  const made = randomBytes(32).toString('base64');
  try {
    await store.setSetting('links.key', made);
    return made;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return null;
  }
}

/** @param keyOf the key, which is known once the daemon has started; null if there is none */
export function signedLinks(keyOf: () => string | null): SignedLinks {
  const sign = (...parts: readonly (string | number)[]): string | null => {
    const key = keyOf();
    return key === null ? null : createHmac('sha256', key).update(parts.join('\n')).digest('base64url');
  };
  const signatureOf = ({ id, at }: { id: string; at: number }) => sign('link', id, linkEndsAt(at));
  return {
    urlOf(alert, baseUrl) {
      if (!alert.snitch || !isAlarm(alert.type)) return null;
      const signature = signatureOf(alert);
      return signature === null ? null : `${baseUrl}/a/${alert.id}.${signature}`;
    },
    isGenuine: (alert, signature) => isSame(signatureOf(alert), signature),
    sealOf: (alertId, madeAt) => `${madeAt}.${sign('page', alertId, madeAt) ?? ''}`,
    madeAt(alertId, seal) {
      const [, at, signature] = /^(\d{1,15})\.([\w-]{43})$/.exec(seal) ?? [];
      if (at === undefined || signature === undefined) return null;
      return isSame(sign('page', alertId, at), signature) ? Number(at) : null;
    },
  };
}

/** In constant time. The texts are compared and not the decoded bytes, which several texts could stand for. */
function isSame(expected: string | null, given: string): boolean {
  if (expected === null || expected.length !== given.length) return false;
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
