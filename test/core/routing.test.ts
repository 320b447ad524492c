import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import {
  type Occasion,
  type RoutedChannel,
  route,
  routeOfRefusal,
  whyPassedOver,
} from '../../src/core/routing.ts';

const targets = {
  members: ['ann@example.com', 'bob@example.com'],
  webhooks: ['hook-1', 'hook-2'],
  channels: [],
  routes: new Map(),
};
const missing = {
  event: 'missing',
  tags: [],
  isFirst: false,
  told: new Set<string>(),
  now: 0,
  since: 0,
} as const;

const routing = suite('routing');

routing('every webhook and every member, where the snitch has no list of its own', () => {
  assert.equal(route([], targets, missing), [
    { channel: 'webhook', target: 'hook-1' },
    { channel: 'webhook', target: 'hook-2' },
    { channel: 'email', target: 'ann@example.com' },
    { channel: 'email', target: 'bob@example.com' },
  ]);
});

routing('the list of the snitch replaces the members, and leaves the webhooks', () => {
  assert.equal(route(['ops@example.com'], targets, missing), [
    { channel: 'webhook', target: 'hook-1' },
    { channel: 'webhook', target: 'hook-2' },
    { channel: 'email', target: 'ops@example.com' },
  ]);
});

routing('a list does not add a member who is not on it, nor lose one who is', () => {
  const emails = route(['bob@example.com', 'ops@example.com'], targets, missing).filter(
    (r) => r.channel === 'email',
  );
  assert.equal(
    emails.map((r) => r.target),
    ['bob@example.com', 'ops@example.com'],
  );
});

routing('without targets there are no deliveries', () => {
  assert.equal(route([], { members: [], webhooks: [], channels: [], routes: new Map() }, missing), []);
});

routing('an address is told once, whatever the case of its letters', () => {
  const routes = route(
    ['Ann@Example.com', 'bob@example.com', 'ann@example.com'],
    { ...targets, webhooks: [] },
    missing,
  );
  assert.is(routes.length, 2);
  assert.equal(routes.map((r) => r.target.toLowerCase()).sort(), ['ann@example.com', 'bob@example.com']);
});

const channel = (id: string, changes: Partial<RoutedChannel> = {}): RoutedChannel => ({
  id,
  kind: 'slack',
  events: DEFAULT_EVENTS,
  tags: [],
  after: 0,
  hours: null,
  ...changes,
});
const occasion = (changes: Partial<Occasion> = {}): Occasion => ({ ...missing, ...changes });

routing('why a channel is passed over, or that it is not', () => {
  const told = new Set(['told']);
  const table: [RoutedChannel, Occasion, string | null][] = [
    [channel('a'), occasion(), null],
    [channel('a', { events: ['errored'] }), occasion(), 'takes no missing alerts'],
    [channel('a'), occasion({ event: 'blind' }), 'takes no notices'],
    [channel('a', { events: ['blind'], tags: ['db'] }), occasion({ event: 'blind' }), null],
    [channel('a', { tags: ['db', 'web'] }), occasion({ tags: ['web'] }), null],
    [
      channel('a', { tags: ['db', 'web'] }),
      occasion({ tags: ['mail'] }),
      'takes only snitches tagged db or web',
    ],
    [channel('told'), occasion({ event: 'reporting', told }), null],
    [channel('a'), occasion({ event: 'reporting', told }), 'was not told of the alarm'],
    [channel('a'), occasion({ event: 'reporting', isFirst: true }), null],
    [channel('a', { events: ['reporting'] }), occasion({ event: 'reporting', told }), null],
    [channel('a'), occasion({ event: 'paused' }), null],
    [channel('a', { kind: 'pagerduty' }), occasion({ event: 'paused', told }), 'was not told of an alarm'],
    [channel('told', { kind: 'pagerduty' }), occasion({ event: 'paused', told }), null],
    [channel('told', { events: ['missing'] }), occasion({ event: 'paused', told }), 'takes no paused alerts'],
    [channel('told', { kind: 'pagerduty', events: ['missing'] }), occasion({ event: 'paused', told }), null],
    [channel('told', { kind: 'pagerduty', tags: ['db'] }), occasion({ event: 'paused', told }), null],
    [
      channel('a', { kind: 'pagerduty' }),
      occasion({ event: 'reporting', isFirst: true }),
      'was not told of an alarm',
    ],
  ];
  for (const [given, when, why] of table) {
    assert.is(whyPassedOver({ channel: given.kind, target: given.id }, given, when), why);
  }
});

routing('a refusal is told by the other channels that people read, whatever their events', () => {
  const channels = [channel('a'), channel('b', { events: ['errored'] }), channel('c', { kind: 'opsgenie' })];
  assert.equal(routeOfRefusal({ members: [], webhooks: [], channels, routes: new Map() }, 'a', 0), [
    { channel: 'slack', target: 'b' },
  ]);
});

routing.run();
