import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS, EVERYTHING, type RouteRule } from '../../../src/core/channel.ts';
import type { Hours } from '../../../src/core/hours/hours.ts';
import { validateRouteChanges } from '../../../src/core/routes/rule-input.ts';
import { type Standing, whyOver } from '../../../src/core/routes/standing.ts';
import {
  judge,
  type Occasion,
  type Plan,
  route,
  routeOfNotice,
  routeOfRefusal,
  type Targets,
  whenOf,
} from '../../../src/core/routing.ts';

const test = suite('when a target is told');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Thursday, ten in the evening in Berlin. */
const NOW = Date.parse('2025-07-10T20:00:00Z');
const OPENING = Date.parse('2025-07-11T06:00:00Z');
const OFFICE: Hours = { timezone: 'Europe/Berlin', days: ['thu', 'fri'], from: '08:00', to: '18:00' };

const ALARM: Occasion = { event: 'missing', tags: [], isFirst: false, told: new Set(), now: NOW, since: NOW };

/** What one chat makes of an occasion. */
function planOf(rule: Partial<RouteRule>, occasion: Partial<Occasion> = {}): Plan {
  const chat = { id: 'chat', kind: 'slack', ...EVERYTHING, ...rule } as const;
  const targets = { members: [], webhooks: [], channels: [chat], routes: new Map() };
  const [judged] = judge([], targets, { ...ALARM, ...occasion });
  assert.ok(judged);
  return judged.plan;
}

const TOLD = new Set(['chat']);

test('after counts from the beginning of the outage, whichever of its alarms is decided', () => {
  const after = { after: 1_800 };
  assert.equal(planOf(after), { at: NOW + 30 * MINUTE, waits: 'after' });
  assert.equal(planOf(after, { since: NOW - 10 * MINUTE }), { at: NOW + 20 * MINUTE, waits: 'after' });
  assert.equal(planOf(after, { since: NOW - 30 * MINUTE }), { at: NOW, waits: null });
  assert.equal(planOf(after, { since: 0 }), { at: NOW, waits: null });
});

test('what seems to begin in the future is told at once rather than never', () => {
  assert.equal(planOf({ after: 1_800 }, { since: NOW + HOUR }), { at: NOW, waits: null });
});

test('the end of an outage and a pause have no after for whoever was told, and nothing for the others', () => {
  const after = { after: 1_800 };
  assert.equal(planOf(after, { event: 'reporting', told: TOLD }), { at: NOW, waits: null });
  assert.equal(planOf(after, { event: 'reporting' }), { why: 'was not told of the alarm' });
  assert.equal(planOf(after, { event: 'paused', told: TOLD }), { at: NOW, waits: null });
  assert.equal(planOf(after, { event: 'paused' }), { at: NOW + 30 * MINUTE, waits: 'after' });
  const first = { event: 'reporting', isFirst: true } as const;
  assert.equal(planOf(after, first), { at: NOW + 30 * MINUTE, waits: 'after' });
});

test('outside the hours an alarm waits for the next opening, and so does the end of one that was told', () => {
  const hours = { hours: OFFICE };
  assert.equal(planOf(hours), { at: OPENING, waits: 'hours' });
  assert.equal(planOf(hours, { event: 'reporting', told: TOLD }), { at: OPENING, waits: 'opening' });
  assert.equal(planOf(hours, { event: 'paused', told: TOLD }), { at: OPENING, waits: 'hours' });
  assert.equal(planOf(hours, { now: NOW - 6 * HOUR, since: NOW - 6 * HOUR }), {
    at: NOW - 6 * HOUR,
    waits: null,
  });
});

test('after comes first, and then the next opening', () => {
  const both = { after: 3_600, hours: OFFICE };
  assert.equal(planOf(both), { at: OPENING, waits: 'hours' });
  const early = OPENING - 30 * MINUTE;
  const late = OPENING + 10 * HOUR - 30 * MINUTE;
  assert.equal(planOf(both, { now: early, since: early }), { at: early + HOUR, waits: 'after' });
  // What is due right after closing time waits for another week.
  assert.equal(planOf(both, { now: late, since: late }), {
    at: Date.parse('2025-07-17T06:00:00Z'),
    waits: 'hours',
  });
});

test('a reminder does not wait beside the alarm before it', () => {
  const plan = planOf({ after: 1_800 }, { waiting: TOLD });
  assert.equal(plan, { why: 'is told of the alarm before it when its time comes' });
});

const rule = (changes: Partial<RouteRule>): RouteRule => ({ ...EVERYTHING, ...changes });
const CASE: Targets = {
  members: ['Ann@example.com', 'bob@example.com'],
  webhooks: ['hook'],
  channels: [],
  routes: new Map([
    ['ann@example.com', rule({ tags: ['db'], after: 60 })],
    ['hook', rule({ events: ['errored'] })],
  ]),
};

test('members and webhooks have routes too, and get everything without one', () => {
  assert.equal(route([], CASE, ALARM), [{ channel: 'email', target: 'bob@example.com' }]);
  assert.equal(route([], CASE, { ...ALARM, event: 'errored', tags: ['db'] }), [
    { channel: 'webhook', target: 'hook' },
    { channel: 'email', target: 'Ann@example.com', at: NOW + MINUTE, waits: 'after' },
    { channel: 'email', target: 'bob@example.com' },
  ]);
  const end = { ...ALARM, event: 'reporting', tags: ['db'] } as const;
  assert.equal(route([], CASE, end), [{ channel: 'email', target: 'bob@example.com' }]);
  const told = new Set(['ann@example.com']);
  assert.is(route([], CASE, { ...end, told }).length, 2, 'an address is the same in whatever letters');
});

test('an address on the list of the snitch is told at once, whatever it takes as a member', () => {
  const routes = route(['ann@example.com'], CASE, ALARM);
  assert.equal(routes, [{ channel: 'email', target: 'ann@example.com' }]);
});

test('notices wait for the hours, and for nothing else', () => {
  const targets: Targets = {
    ...CASE,
    webhooks: [],
    routes: new Map([
      ['ann@example.com', rule({ after: 600, hours: OFFICE })],
      ['bob@example.com', rule({ events: DEFAULT_EVENTS })],
    ]),
  };
  const ann = { channel: 'email', target: 'Ann@example.com', at: OPENING, waits: 'opening' };
  assert.equal(routeOfNotice(targets, NOW), [ann]);
  // A refusal concerns everybody.
  assert.equal(routeOfRefusal(targets, 'chat', NOW), [ann, { channel: 'email', target: 'bob@example.com' }]);
});

test('what waited holds as long as the state that it tells of', () => {
  const is = (status: Standing['status'], acknowledged = false) => ({ status, acknowledged });
  for (const event of ['missing', 'errored'] as const) {
    assert.is(whyOver(event, is('failed')), null);
    assert.is(whyOver(event, is('errored')), null);
    assert.is(whyOver(event, is('failed', true)), 'was acknowledged before');
    assert.is(whyOver(event, is('healthy')), 'recovered before');
    assert.is(whyOver(event, is('paused')), 'was paused before');
    assert.is(whyOver(event, null), 'was deleted before');
  }
  assert.is(whyOver('paused', is('paused')), null);
  assert.is(whyOver('paused', is('failed')), 'went missing before');
  assert.is(whyOver('reporting', is('healthy')), null);
  assert.is(whyOver('reporting', is('errored')), 'reported an error before');
  assert.is(whyOver('blind', null), null);
});

test('a plan that is asked for again at its time lets it through', () => {
  for (const given of [
    { after: 1_800, hours: null },
    { after: 0, hours: OFFICE },
    { after: 90, hours: OFFICE },
  ]) {
    const first = whenOf(given, { now: NOW, from: NOW, lasts: true });
    assert.ok(first.at > NOW && first.waits !== null);
    const again = whenOf(given, { now: first.at, from: NOW, lasts: true });
    assert.equal(again, { at: first.at, waits: null });
    assert.is(whenOf(given, { now: first.at - 1, from: NOW, lasts: true }).at, first.at);
  }
});

test('of a webhook or a member only the route changes', () => {
  const hook = {
    kind: 'webhook',
    name: 'https://a.example/',
    settings: { url: 'https://a.example/' },
  } as const;
  assert.equal(validateRouteChanges({ ...hook, id: 'x', after: 60, events: ['blind', 'missing'] }, hook), {
    value: { after: 60, events: ['missing', 'blind'] },
  });
  for (const [body, attribute] of [
    [{ settings: { url: 'https://b.example/' } }, 'settings'],
    [{ name: 'other' }, 'name'],
    [{ kind: 'slack' }, 'kind'],
    [{ after: '60' }, 'after'],
    [[], 'body'],
  ] as const) {
    const { validations } = validateRouteChanges(body, hook);
    assert.is(validations?.[0]?.attribute, attribute);
  }
  assert.match(
    validateRouteChanges({ name: 'x' }, hook).validations?.[0]?.message ?? '',
    /snitch webhook add/,
  );
});

test.run();
