import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { route, routeToAddresses } from '../../src/core/routing.ts';

const targets = {
  members: ['ann@example.com', 'bob@example.com'],
  webhooks: ['hook-1', 'hook-2'],
  channels: [],
};
const missing = { event: 'missing', tags: [], isFirst: false, told: new Set<string>() } as const;

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

routing('nobody to tell is no delivery', () => {
  assert.equal(route([], { members: [], webhooks: [], channels: [] }, missing), []);
});

routing('an address is told once, whatever the case of its letters', () => {
  const routes = routeToAddresses(['Ann@Example.com', 'bob@example.com', 'ann@example.com']);
  assert.is(routes.length, 2);
  assert.equal(routes.map((r) => r.target.toLowerCase()).sort(), ['ann@example.com', 'bob@example.com']);
});

routing.run();
