/** Who gets an alarm, when, and why the others do not, in words for people. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouteRule } from '../../../src/core/channel.ts';
import { audienceOf, type Outage, type Surroundings } from '../../../src/core/explanation/audience.ts';

const test = suite('whom an alarm goes to');

const MINUTE = 60_000;

/** A Wednesday. */
const NOW = Date.parse('2025-07-09T10:20:00Z');
const HOURS = { timezone: 'UTC', days: ['thu'], from: '08:00', to: '18:00' } as const;

const rule = (changes: Partial<RouteRule> = {}): RouteRule => ({
  events: ['missing', 'errored', 'reporting'],
  tags: [],
  after: 0,
  hours: null,
  ...changes,
});

/** A case with one channel, with this rule. */
function around(own: RouteRule, changes: Partial<Surroundings> = {}): Surroundings {
  return {
    alertEmail: [],
    tags: [],
    targets: {
      members: ['ann@example.com'],
      webhooks: ['hook_1'],
      channels: [{ id: 'chan_1', kind: 'slack', ...own }],
      routes: new Map(),
    },
    outage: null,
    nextAlertAt: null,
    now: NOW,
    sendsEmail: true,
    nameOf: (target) => (target === 'chan_1' ? 'ops' : target),
    failureAt: () => null,
    local: (at) => new Date(at).toISOString().slice(11, 16),
    ...changes,
  };
}

const later = (own: RouteRule, changes: Partial<Surroundings> = {}) => audienceOf(around(own, changes)).later;

const outage = (changes: Partial<Outage> = {}): Outage => ({
  since: NOW - MINUTE,
  told: new Set(),
  waiting: new Set(),
  ...changes,
});

test('targets that get it at once are named by kind when none gets it later', () => {
  const { emails, webhooks, channels, passedOver, failing, ...rest } = audienceOf(around(rule()));
  assert.equal([emails, webhooks, channels], [['ann@example.com'], ['hook_1'], ['ops']]);
  assert.equal([passedOver, failing, rest.later], [[], [], []]);
});

test('whoever is passed over is named with the reason', () => {
  const { channels, passedOver } = audienceOf(around(rule({ tags: ['db'] })));
  assert.equal(channels, []);
  assert.equal(passedOver, [{ name: 'the channel ops', why: 'takes only snitches tagged db' }]);
});

test('while no alarm is due, it says in general when a target would be told', () => {
  const when = (own: RouteRule) => later(own)?.map((one) => `${one.name} ${one.when}`);
  assert.equal(when(rule({ after: 600 })), ['ops after 10 min if nobody acknowledges']);
  assert.equal(when(rule({ hours: HOURS })), ['ops in its hours (thu 08:00-18:00 UTC)']);
  assert.equal(when(rule({ after: 600, hours: HOURS })), [
    'ops after 10 min if nobody acknowledges, in its hours (thu 08:00-18:00 UTC)',
  ]);
});

test('for an alarm that is due it names the time', () => {
  const next = { nextAlertAt: NOW + 30 * MINUTE };
  assert.equal(later(rule({ after: 600 }), next), [
    { name: 'ops', when: 'after 10 min if nobody acknowledges, at 11:00' },
  ]);
  assert.equal(later(rule({ hours: HOURS }), next), [
    { name: 'ops', when: 'from Thu 2025-07-10 08:00 +00:00 (UTC) on, when its hours begin' },
  ]);
  const inside = { ...HOURS, days: ['wed'] } as const;
  assert.equal(later(rule({ hours: inside }), next), [], 'in its hours it is told at once');
  assert.equal(later(rule({ after: 600, hours: inside }), next), [
    { name: 'ops', when: 'after 10 min if nobody acknowledges, at 11:00' },
  ]);
});

test('during an outage, a target that still waits is listed with the time it will be told', () => {
  const waiting = outage({ waiting: new Set(['chan_1']) });
  assert.equal(later(rule({ after: 600 }), { outage: waiting, nextAlertAt: NOW + 60 * MINUTE }), [
    { name: 'ops', when: 'after 10 min if nobody acknowledges, at 10:29' },
  ]);
});

test('targets whose last delivery failed are named, unless they are passed over anyway', () => {
  const failureAt = () => 'refused the last message';
  const failing = (own: RouteRule) => audienceOf(around(own, { failureAt })).failing.map(({ name }) => name);
  assert.equal(failing(rule()), ['hook_1', 'ann@example.com', 'ops']);
  assert.equal(failing(rule({ tags: ['db'] })), ['hook_1', 'ann@example.com']);
});

test.run();
