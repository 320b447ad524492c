/** Why nobody was told, in the words of the lists of alerts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  audienceReasons,
  type Telling,
  type ToldAlert,
  tellingReasons,
  whyNobody,
  whyUntold,
} from '../../../src/core/explanation/told.ts';

const test = suite('why nobody was told');

test('an alert of a snitch without targets has nobody to tell', () => {
  assert.is(whyUntold(undefined), 'nobody to tell');
  assert.is(whyUntold(null), 'nobody to tell');
});

test('a blind window is told only where it was longer than a minute', () => {
  const from = '2026-03-14T12:00:00.000Z';
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.000Z' }), 'too short to tell');
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.001Z' }), 'nobody to tell');
});

test('somebody is told by a webhook, or by an email where the server sends any', () => {
  const nothing = { emails: [] as string[], webhooks: [] as string[], channels: [] as string[] };
  const audience = { ...nothing, passedOver: [], sendsEmail: true };
  assert.match(whyNobody(audience) ?? '', 'no member and no webhook');
  assert.is(whyNobody({ ...audience, emails: ['ann@example.com'] }), null);
  const off = { ...audience, emails: ['ann@example.com'], sendsEmail: false };
  assert.match(whyNobody(off) ?? '', 'email is off on this server');
  assert.is(whyNobody({ ...off, webhooks: ['https://example.com'] }), null);
  assert.match(whyNobody({ ...audience, sendsEmail: false }) ?? '', 'no member and no webhook');
  assert.is(whyNobody({ ...off, channels: ['ops'] }), null, 'a channel is somebody');
  const others = [{ name: 'the channel ops', why: 'takes only snitches tagged db' }];
  assert.match(whyNobody({ ...audience, passedOver: others }) ?? '', 'no channel takes it');
  assert.equal(audienceReasons({ passedOver: others }), [
    'An alarm would not go to the channel ops: it takes only snitches tagged db.',
  ]);
});

const NOW = 1_000_000;

const delivery = (changes: Partial<Telling> = {}): Telling => ({
  channel: 'email',
  target: 'ann@example.com',
  state: 'delivered',
  sending: false,
  attempts: 1,
  lastError: null,
  nextAttemptAt: null,
  deliveredAt: 7,
  ...changes,
});

function told(deliveries: Telling[], changes: Partial<ToldAlert> = {}): string[] {
  const alert = {
    type: 'snitch.missing',
    at: 5,
    flapping: false,
    startedAt: null,
    deliveries,
    ...changes,
  } as const;
  return tellingReasons(alert, NOW, (at) => `<${at}>`);
}

test('an alert that went to nobody, and one that was told', () => {
  assert.equal(told([]), ['Nobody was told of its last alert (missing, <5>): there was nobody to tell.']);
  assert.equal(told([delivery(), delivery({ target: 'bob@example.com', deliveredAt: null })]), [
    'Of its last alert (missing, <5>):',
    'Told: ann@example.com by email at <7>; bob@example.com by email.',
  ]);
});

test('what became of each delivery is told, in its own sentence', () => {
  const waiting = { state: 'pending', deliveredAt: null, attempts: 0 } as const;
  const failed = { ...waiting, attempts: 1, lastError: 'away' };
  assert.equal(
    told([
      delivery({ ...waiting, target: 'a' }),
      delivery({ ...failed, target: 'b', sending: true }),
      delivery({ ...failed, target: 'c', nextAttemptAt: NOW + 1 }),
      delivery({ ...failed, target: 'd', nextAttemptAt: NOW, attempts: 2 }),
      delivery({ ...failed, target: 'e', attempts: 3 }),
      delivery({ state: 'dead', target: 'f', channel: 'webhook', lastError: 'gone' }),
      delivery({ state: 'dead', target: 'g' }),
    ]),
    [
      'Nobody was told of its last alert (missing, <5>) so far.',
      'Not told yet: a by email waits to be sent; b by email is being sent now; ' +
        `c by email after 1 attempt (away), the next attempt comes at <${NOW + 1}>; ` +
        'd by email after 2 attempts (away), the next attempt comes soon; ' +
        'e by email after 3 attempts (away), the next attempt comes soon.',
      'Not told: f by webhook failed: gone; g by email failed: no reason is known.',
    ],
  );
  const retried = delivery({ ...waiting, lastError: 'away', nextAttemptAt: NOW });
  assert.match(told([retried])[1] ?? '', 'waits to be sent', 'a retry by hand begins anew');
});

test('five are named, and the others counted', () => {
  const many = (count: number) =>
    told(Array.from({ length: count }, (_, index) => delivery({ target: `t${index}` })))[1] ?? '';
  assert.match(many(5), /t4 by email at <7>\.$/);
  assert.match(many(6), /t4 by email at <7>; and 1 more\.$/);
});

test('flapping is said at the end', () => {
  const reasons = told([delivery()], { flapping: true });
  assert.is(reasons.length, 3);
  assert.match(reasons[2] ?? '', 'It changes too often');
});

test.run();
