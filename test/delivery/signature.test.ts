import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sign, signingSecrets } from '../../src/delivery/channels/webhook-signature.ts';

const OLD = `whsec_${Buffer.from('an old secret of thirty-two byte').toString('base64')}`;
const NEW = `whsec_${Buffer.from('a new secret of thirty-two bytes').toString('base64')}`;
const BODY = JSON.stringify({ type: 'snitch.missing', data: { snitch: { name: 'Zürich 🚀' } } });

function verifies(secret: string, signature: string, timestamp: number): boolean {
  const headers = {
    'webhook-id': 'alert_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  };
  try {
    new Webhook(secret).verify(BODY, headers);
    return true;
  } catch {
    return false;
  }
}

test('the published receiver accepts the signature only with the right secret', () => {
  const now = Math.floor(Date.now() / 1000);
  const signature = sign([NEW], 'alert_1', now, BODY);
  assert.ok(verifies(NEW, signature, now));
  assert.not.ok(verifies(OLD, signature, now));
  assert.not.ok(verifies(NEW, sign([NEW], 'alert_2', now, BODY), now));
  assert.not.ok(verifies(NEW, sign([NEW], 'alert_1', now, `${BODY} `), now));
});

test('while the secret before a rotation is valid, receivers with either secret accept', () => {
  const now = Math.floor(Date.now() / 1000);
  const rotated = { secret: NEW, previousSecret: OLD, previousSecretUntil: now * 1000 + 1 };
  const both = sign(signingSecrets(rotated, now * 1000), 'alert_1', now, BODY);
  assert.match(both, /^v1,\S+ v1,\S+$/);
  assert.ok(verifies(OLD, both, now));
  assert.ok(verifies(NEW, both, now));
  const later = sign(signingSecrets(rotated, now * 1000 + 1), 'alert_1', now, BODY);
  assert.not.ok(verifies(OLD, later, now));
  assert.ok(verifies(NEW, later, now));
});

test.run();
