/** Why nobody was told, in the words of the lists of alerts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHANNEL_DELETED, EMAIL_OFF, lastOfAll } from '../../../src/core/explanation/death.ts';
import {
  type Audience,
  audienceReasons,
  failingReasons,
  failureOf,
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

test('a blind window is mentioned only if it was longer than a minute', () => {
  const from = '2026-03-14T12:00:00.000Z';
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.000Z' }), 'too short to tell');
  assert.is(whyUntold({ from, to: '2026-03-14T12:01:00.001Z' }), 'nobody to tell');
});

test('somebody is told by a webhook, or by email if mail is set up', () => {
  const nothing = { emails: [] as string[], webhooks: [] as string[], channels: [] as string[] };
  const audience: Audience = { ...nothing, passedOver: [], failing: [], sendsEmail: true };
  assert.match(whyNobody(audience) ?? '', 'no member and no webhook');
  assert.is(whyNobody({ ...audience, emails: ['ann@example.com'] }), null);
  const off = { ...audience, emails: ['ann@example.com'], sendsEmail: false };
  assert.match(whyNobody(off) ?? '', 'email is off on this server');
  assert.is(whyNobody({ ...off, webhooks: ['https://example.com'] }), null);
  assert.match(whyNobody({ ...audience, sendsEmail: false }) ?? '', 'no member and no webhook');
  assert.is(whyNobody({ ...off, channels: ['ops'] }), null, 'a channel is somebody');
  const others = [{ name: 'the channel ops', why: 'takes only snitches tagged db' }];
  assert.match(
    whyNobody({ ...audience, passedOver: others }) ?? '',
    'nobody takes it: the channel ops takes only snitches tagged db',
  );
  assert.equal(audienceReasons({ passedOver: others }), [
    'An alarm would not go to the channel ops: it takes only snitches tagged db.',
  ]);
});

test('of the targets that are told later twenty are named and the rest counted', () => {
  const later = Array.from({ length: 21 }, (_, index) => ({ name: `team ${index}`, when: 'at nine' }));
  const named = later.slice(0, 20).map(({ name }) => `An alarm goes to ${name} at nine.`);
  assert.equal(audienceReasons({ passedOver: [], later: later.slice(0, 20) }), named);
  assert.equal(audienceReasons({ passedOver: [], later }), [...named, 'And to 1 more later.']);
});

test('a failing target reaches nobody, and is named', () => {
  const none = { emails: [], webhooks: [], channels: [], passedOver: [], failing: [], sendsEmail: true };
  const refused = { channel: 'slack', name: 'chat', why: failureOf('answered 404') } as const;
  const bounced = {
    channel: 'email',
    name: 'ann@example.com',
    why: failureOf('550 no such mailbox'),
  } as const;
  const hook = {
    channel: 'webhook',
    name: 'https://h',
    why: failureOf(lastOfAll('answered 500', 11)),
  } as const;
  const alone: Audience = { ...none, channels: ['chat'], failing: [refused] };
  assert.is(whyNobody(alone), 'chat refused the last message: answered 404, and nobody else is told');
  assert.equal(failingReasons(alone), [
    'An alarm would go to chat, which refused the last message: answered 404.',
  ]);
  assert.is(whyNobody({ ...alone, channels: ['chat', 'other'] }), null);
  assert.is(whyNobody({ ...alone, emails: ['ann@example.com'] }), null);
  assert.is(whyNobody({ ...alone, webhooks: ['https://h'] }), null);
  const all = { ...alone, emails: ['ann@example.com'], webhooks: ['https://h'] };
  assert.match(
    whyNobody({ ...all, failing: [refused, bounced, hook] }) ?? '',
    'ann@example.com refused the last message: 550 no such mailbox; https://h could not be reached: answered 500',
  );
  assert.match(
    whyNobody({ ...all, sendsEmail: false, failing: [refused, bounced, hook] }) ?? '',
    /^email is off on this server; chat refused the last message: answered 404; https:\/\/h could not be reached/,
  );
  assert.is(whyNobody({ ...all, failing: [refused, hook] }), null, 'mail still reaches somebody');
});

test('when none of them was delivered or waits, nobody could be told', () => {
  const [gist] = told([delivery({ state: 'dead', lastError: 'answered 404', channel: 'slack' })]);
  assert.is(gist, 'Nobody could be told of its last alert (missing, <5>).');
});

test('if it was acknowledged or over before anybody was due to be told, nothing went wrong', () => {
  const dropped = delivery({ state: 'dropped', lastError: 'it was acknowledged before', attempts: 0 });
  assert.is(told([dropped])[0], 'Nobody was told of its last alert (missing, <5>).');
  const refused = delivery({ state: 'dead', lastError: 'answered 404', channel: 'slack' });
  assert.is(told([dropped, refused])[0], 'Nobody could be told of its last alert (missing, <5>).');
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
  assert.equal(told([]), [
    'Nobody could be told of its last alert (missing, <5>): no channel, member or webhook took it.',
  ]);
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
      delivery({ state: 'dead', target: 'f', channel: 'slack', lastError: 'answered 404' }),
      delivery({ state: 'dead', target: 'g', lastError: '550 no such mailbox' }),
      delivery({
        ...{ state: 'dead', target: 'h', channel: 'webhook', attempts: 11 },
        lastError: lastOfAll('answered 500', 11),
      }),
      delivery({ state: 'dead', target: 'i' }),
      delivery({ state: 'dead', target: 'j', lastError: EMAIL_OFF }),
      delivery({ state: 'dead', target: 'k', channel: 'ntfy', lastError: CHANNEL_DELETED }),
    ]),
    [
      'Nobody has been told of its last alert (missing, <5>) so far.',
      'Not told yet: a by email waits to be sent; b by email is being sent now; ' +
        `c by email, 1 attempt, next at <${NOW + 1}>: away; ` +
        'd by email, 2 attempts, next soon: away; e by email, 3 attempts, next soon: away.',
      'Refused by f (slack): answered 404; the mail server for g: 550 no such mailbox.',
      'Given up: h by webhook after 11 attempts: answered 500 (attempt 11 was the last); ' +
        'i by email after 1 attempt: no reason is known.',
      'Never sent: j by email: email is off: set smtp.url and smtp.from; k by ntfy: the channel was deleted.',
    ],
  );
  const retried = delivery({ ...waiting, lastError: 'away', nextAttemptAt: NOW });
  assert.match(told([retried])[1] ?? '', 'waits to be sent', 'a retry by hand begins anew');
});

test('five deliveries are named, and the others counted', () => {
  const many = (count: number) =>
    told(Array.from({ length: count }, (_, index) => delivery({ target: `t${index}` })))[1] ?? '';
  assert.match(many(5), /t4 by email at <7>\.$/);
  assert.match(many(6), /t4 by email at <7>; and 1 more\.$/);
});

test('flapping is mentioned at the end', () => {
  const reasons = told([delivery()], { flapping: true });
  assert.is(reasons.length, 3);
  assert.match(reasons[2] ?? '', 'It changes too often');
});

test.run();
