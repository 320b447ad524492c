/** Which snitches alert nobody at all. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouteRule } from '../../../src/core/channel.ts';
import {
  type ReachedBy,
  reaches,
  reachesAll,
  reachOf,
  unreachedInWords,
} from '../../../src/core/explanation/reach.ts';
import type { RoutedChannel, Targets } from '../../../src/core/routing.ts';

const test = suite('whom alerts reach');

const ruleOf = (events: RouteRule['events'], tags: string[]): RouteRule => ({
  ...{ events, tags, after: 0, hours: null },
});
const channel = (changes: Partial<RoutedChannel> = {}): RoutedChannel => ({
  ...{ id: 'chan_1', kind: 'slack', ...ruleOf(['missing', 'errored', 'reporting'], []) },
  ...changes,
});
const by = ({ failing = new Set(), sendsEmail = true, ...targets }: Partial<Targets & ReachedBy> = {}) =>
  reachOf({
    targets: { members: [], webhooks: [], channels: [], routes: new Map(), ...targets },
    failing,
    sendsEmail,
  });
const plain = { tags: [] as string[], alertEmail: [] as string[] };
const own = { ...plain, alertEmail: ['Dba@example.com'] };
const tagged = { ...plain, tags: ['web', 'db'] };

test('without targets nobody is reached; own addresses reach people if mail is set up', () => {
  assert.equal(
    [plain, own, tagged].map((one) => reaches(by(), one)),
    [false, true, false],
  );
  assert.not(reaches(by({ sendsEmail: false }), own));
  assert.not(reaches(by({ failing: new Set(['dba@example.com']) }), own));
});

test('a webhook or channel without tags covers every snitch, unless it is failing', () => {
  assert.ok(reachesAll(by({ webhooks: ['hook_1'] })));
  assert.ok(reachesAll(by({ channels: [channel()] })));
  assert.not(reachesAll(by({ webhooks: ['hook_1'], failing: new Set(['hook_1']) })));
  assert.not(reachesAll(by({ channels: [channel()], failing: new Set(['chan_1']) })));
  assert.not(reachesAll(by({ channels: [channel({ events: ['errored', 'reporting'] })] })), 'not missing');
});

test('members are reached for every snitch, except for one whose own addresses are failing', () => {
  assert.ok(reachesAll(by({ members: ['ann@example.com'] })));
  assert.not(reachesAll(by({ members: ['ann@example.com'], sendsEmail: false })));
  assert.not(reachesAll(by({ members: ['Ann@example.com'], failing: new Set(['ann@example.com']) })));
  const bounced = by({ members: ['ann@example.com'], failing: new Set(['dba@example.com']) });
  assert.equal(
    [plain, own, tagged].map((one) => reaches(bounced, one)),
    [true, false, true],
  );
});

test('a channel with tags covers the snitches that have one of them', () => {
  const db = by({ channels: [channel({ tags: ['db', 'mail'] })], sendsEmail: false });
  assert.not(reachesAll(db));
  assert.equal(
    [plain, own, tagged].map((one) => reaches(db, one)),
    [false, false, true],
  );
});

test('members and webhooks with a route reach only for what they take', () => {
  const routes = new Map([
    ['ann@example.com', ruleOf(['missing'], ['db'])],
    ['hook_1', ruleOf(['reporting'], [])],
  ]);
  const routed = by({ members: ['Ann@example.com'], webhooks: ['hook_1'], routes });
  assert.not(reachesAll(routed));
  assert.equal(
    [plain, own, tagged].map((one) => reaches(routed, one)),
    [false, true, true],
  );
  assert.not(reaches(by({ members: ['ann@example.com'], routes, sendsEmail: false }), tagged));
});

test('the problem is explained in a sentence', () => {
  const some = { names: ['a', 'b'], more: true, all: false };
  assert.is(unreachedInWords(some, 'why'), 'nobody would be told of an alert of a, b and more: why');
  assert.is(unreachedInWords({ ...some, all: true }, 'why'), 'nobody would be told of any alert: why');
  assert.is(unreachedInWords({ names: [], more: false, all: false }, 'why'), null);
});

test.run();
