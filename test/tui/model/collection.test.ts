/** Which snitches the table shows, and in which order. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireStatus } from '../../../src/api/wire.ts';
import { applyChanges, arrange, EMPTY, replaceAll } from '../../../src/tui/model/collection.ts';
import { SORT_KEYS, URGENCY } from '../../../src/tui/model/order.ts';
import { cases } from '../../cases.ts';
import { FLEET, HOUR, iso, MINUTE, NOON, snitch } from '../samples.ts';

const test = suite('the collection of snitches');

const shown = (filter: string) =>
  arrange(replaceAll(EMPTY, FLEET), { filter }).shown.map(({ snitch: { token } }) =>
    token.replace('token-', ''),
  );

test('what is failing comes first, then what is due, what waits, and what is paused', () => {
  assert.equal(shown(''), ['nightly-backup', '日本語のジョブ', 'web-certs', 'brand-new', 'evil']);
});

test('a word filters by name, without regard to case', () => {
  assert.equal(shown('BACK'), ['nightly-backup']);
  assert.equal(shown('ジョブ'), ['日本語のジョブ']);
});

test('tag: and status: filter by tag and status, and ! is their opposite', () => {
  assert.equal(shown('tag:db'), ['nightly-backup', '日本語のジョブ']);
  assert.equal(shown('tag:db !tag:prod'), ['日本語のジョブ']);
  assert.equal(shown('status:fail'), ['nightly-backup']);
  assert.equal(shown('status:missing'), ['nightly-backup']);
  assert.equal(shown('!status:failed !status:errored'), ['web-certs', 'brand-new', 'evil']);
  assert.equal(shown('!web'), ['nightly-backup', '日本語のジョブ', 'brand-new', 'evil']);
});

test('quotes keep words together, and an unfinished term filters nothing', () => {
  const one = replaceAll(EMPTY, [snitch('a', { tags: ['data base'] }), snitch('b')]);
  assert.is(arrange(one, { filter: 'tag:"data base"' }).shown.length, 1);
  for (const filter of ['tag:', '!', '""', '  ', '!tag:'])
    assert.is(arrange(one, { filter }).shown.length, 2, filter);
});

test('totals count every snitch, filtered or not', () => {
  const { totals } = arrange(replaceAll(EMPTY, FLEET), { filter: 'nothing' });
  assert.equal(totals, { failed: 1, errored: 1, paused: 1, pending: 1, healthy: 1 });
});

test('changes one by one lead to the same state as reading everything at once', () => {
  const status = fc.constantFrom<WireStatus>(...URGENCY);
  const change = fc.record({ name: fc.constantFrom(...'abcdefgh'), status, isDeleted: fc.boolean() });
  const order = fc.record({ sort: fc.constantFrom(...SORT_KEYS), reverse: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), order, (changes, arrangement) => {
      let collection = arrange(EMPTY, { ...arrangement, filter: '!c' });
      const last = new Map<string, ReturnType<typeof snitch>>();
      for (const { name, status, isDeleted } of changes) {
        const changed = snitch(name, { status });
        if (isDeleted) last.delete(name);
        else last.set(name, changed);
        collection = isDeleted
          ? applyChanges(collection, [], [changed.token])
          : applyChanges(collection, [changed], []);
      }
      const whole = replaceAll(arrange(EMPTY, { ...arrangement, filter: '!c' }), [...last.values()]);
      assert.equal(
        collection.shown.map(({ token }) => token),
        whole.shown.map(({ token }) => token),
      );
      assert.equal(collection.totals, whole.totals);
    }),
    { numRuns: cases(200) },
  );
});

test('within each: the longest failing, the next due, and at last the name', () => {
  const failed = (name: string, missing_since: string | null | undefined) =>
    snitch(name, { status: 'failed', ...(missing_since === undefined ? {} : { missing_since }) });
  const all = replaceAll(EMPTY, [
    snitch('no further run', { deadline: null }),
    snitch('later', { deadline: iso(NOON + 2 * HOUR) }),
    snitch('b soon', { deadline: iso(NOON + HOUR) }),
    snitch('a soon', { deadline: iso(NOON + HOUR) }),
    failed('short', iso(NOON - MINUTE)),
    failed('long', iso(NOON - HOUR)),
  ]);
  assert.equal(
    all.sorted.map(({ name }) => name),
    ['long', 'short', 'a soon', 'b soon', 'later', 'no further run'],
  );
  const moved = applyChanges(all, [snitch('later', { deadline: iso(NOON + MINUTE) })], []);
  assert.equal(moved.sorted[2]?.name, 'later', 'a deadline that moves takes its row along');
});

test.run();
