import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Claim, Turns } from '../../src/http/endpoint/turns.ts';

const test = suite('turns');

const FOREVER = 2 ** 30;

/** Ends when the test does, so that nobody waits for ever where one fails. */
let staying: AbortController;
test.before.each(() => {
  staying = new AbortController();
});
test.after.each(() => staying.abort());

/** A turn of `key` in `owner`, two of a key and three of an owner at a time. */
function claims(key: string, owner: string): Claim[] {
  return [
    { name: key, most: 2 },
    { name: owner, most: 3 },
  ];
}

/** Asks for a turn and notes in `begun` when it comes. */
async function ask(turns: Turns, begun: string[], key: string, owner = 'team'): Promise<() => void> {
  const release = await turns.take(claims(key, owner), FOREVER, staying.signal);
  begun.push(key);
  return release ?? (() => assert.unreachable('it got no turn'));
}

const settled = () => new Promise(setImmediate);

test('a claimant waits while it has as many turns as it may, others go past it, and each comes in order', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  const [first, second] = [await ask(turns, begun, 'a'), await ask(turns, begun, 'a')];
  const waiting = [
    ask(turns, begun, 'a'),
    ask(turns, begun, 'a'),
    ask(turns, begun, 'b'),
    ask(turns, begun, 'c'),
  ];
  await settled();
  assert.equal(begun, ['a', 'a', 'b'], 'c would be the fourth of the team');
  first();
  first();
  await settled();
  assert.equal(begun, ['a', 'a', 'b', 'a'], 'given back once, however often it is said');
  (await waiting[2])?.();
  await settled();
  assert.equal(begun, ['a', 'a', 'b', 'a', 'c']);
  second();
  await settled();
  assert.equal(begun, ['a', 'a', 'b', 'a', 'c', 'a']);
  await ask(turns, begun, 'd', 'another team');
});

test('whoever waits too long or goes away gets no turn, and takes none from others', async () => {
  const turns = new Turns();
  const release = await turns.take([{ name: 'a', most: 1 }], FOREVER, staying.signal);
  assert.is(await turns.take([{ name: 'a', most: 1 }], 1, staying.signal), null);
  const leaving = new AbortController();
  const left = turns.take([{ name: 'a', most: 1 }], FOREVER, leaving.signal);
  leaving.abort();
  assert.is(await left, null);
  assert.is(await turns.take([{ name: 'b', most: 1 }], FOREVER, leaving.signal), null);
  release?.();
  assert.type(await turns.take([{ name: 'a', most: 1 }], FOREVER, staying.signal), 'function');
});

test.run();
