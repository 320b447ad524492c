/** The signature of a webhook by the standard-webhooks scheme, so the receiver knows who sent it. */
import { createHmac } from 'node:crypto';
import type { Webhook } from '../../core/webhook.ts';

const PREFIX = 'whsec_';

/** The secrets that sign at `now`: for a while after a rotation the previous one also signs. */
export function signingSecrets(
  webhook: Pick<Webhook, 'secret' | 'previousSecret' | 'previousSecretUntil'>,
  now: number,
): string[] {
  const { secret, previousSecret, previousSecretUntil } = webhook;
  const valid = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now;
  return valid ? [secret, previousSecret] : [secret];
}

/**
 * The value of `webhook-signature`: one signature per secret, separated by spaces.
 *
 * @param timestamp seconds since the epoch, as in `webhook-timestamp`
 */
export function sign(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
