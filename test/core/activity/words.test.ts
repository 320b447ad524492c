import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACTIONS, isAction, KEPT_FOR, MOST_ENTRIES } from '../../../src/core/activity/activity.ts';
import { changesBetween, keptDetails, severalOf } from '../../../src/core/activity/changes.ts';
import { didInWords, type ShownEntry } from '../../../src/core/activity/words.ts';

const test = suite('what somebody did, in words');

const said = (action: string, details: ShownEntry['details'] = {}, name = 'nightly-backup') =>
  didInWords({ action, subject: { name }, details }, (iso) => iso.slice(11, 16));

test('a pause says until when', () => {
  assert.is(
    said('snitch.paused', { until: '2026-11-21T06:00:00.000Z' }),
    'paused nightly-backup until 06:00',
  );
  assert.is(
    said('snitch.paused', { until: 'healthy' }),
    'paused nightly-backup until its next healthy check-in',
  );
  assert.is(said('snitch.paused', { until: 'unpaused' }), 'paused nightly-backup until somebody unpauses it');
});

test('a change says what it was and what it is', () => {
  const changes = {
    interval: { from: 'hourly', to: 'daily' },
    grace: { from: null, to: 5_400 },
    schedule: { from: { cron: '0 3 * * *' }, to: null },
    tags: { added: ['db', 'web'], removed: ['old'], more: 2 },
    notes: {},
    expect: { from: [], to: [{ value: 'bytes' }] },
  };
  assert.is(
    said('snitch.changed', { changes }),
    'changed nightly-backup: interval from hourly to daily; grace from none to 1h30m; schedule from cron 0 3 * * * to none; ' +
      'tags +db +web -old and 2 more; notes; expect from [] to [{"value":"bytes"}]',
  );
});

test('several at once are counted, with a few of their names', () => {
  const details = { ...severalOf(['a', 'b', 'c', 'd']), owner: 'web' };
  assert.is(
    said('snitches.imported', details, '4 snitches'),
    'imported 4 snitches from the file web: a, b, c and others',
  );
  assert.is(
    said('snitches.owned', details, '4 snitches'),
    'let the file web keep 4 snitches: a, b, c and others',
  );
  assert.is(
    said('snitches.imported', severalOf(['a', 'b', 'c']), '3 snitches'),
    'imported 3 snitches: a, b, c',
    'there are no others',
  );
  assert.is(said('snitches.owned', { owner: null }), 'let no file keep nightly-backup');
});

test('keys, channels and deliveries are told apart', () => {
  assert.is(said('key.created', { scope: 'read' }, 'wallboard'), 'made the key wallboard (read)');
  assert.is(said('channel.deleted', { channel: 'ntfy' }, 'ops'), 'deleted the channel ops (ntfy)');
  assert.is(
    said('delivery.retried', { channel: 'email' }),
    'sent again the alert about nightly-backup by email',
  );
  assert.is(said('maintenance.began', {}, 'server'), 'began the maintenance');
});

test('every action has its own words, and one from a newer server is shown as it is', () => {
  const words = ACTIONS.map((action) => said(action));
  assert.is(new Set(words).size, ACTIONS.length);
  for (const [index, text] of words.entries()) assert.not.ok(text.includes(ACTIONS[index] ?? ''), text);
  assert.is(said('snitch.eaten'), 'snitch.eaten: nightly-backup');
  assert.is(said('constructor'), 'constructor: nightly-backup');
  assert.not(isAction('snitch.eaten'));
});

test('only what differs is a change, in whatever order its fields stand', () => {
  const names = { schedule: 'schedule', name: 'name' };
  const [one, other] = [
    { a: 1, b: [{ c: 2, d: 3 }] },
    { b: [{ d: 3, c: 2 }], a: 1 },
  ];
  assert.equal(changesBetween({ schedule: one, name: 'x' }, { schedule: other, name: 'x' }, names), {});
  assert.equal(changesBetween({ name: 'x', other: 1 }, { name: 'y', other: 2 }, names), {
    name: { from: 'x', to: 'y' },
  });
  assert.equal(changesBetween({}, { name: null }, names), {});
});

test('only the beginning of a long note is kept', () => {
  const kept = JSON.parse(keptDetails({ note: 'n'.repeat(10_000), count: 2 })) as {
    note: string;
    count: number;
  };
  assert.is(kept.count, 2);
  assert.is(kept.note, `${'n'.repeat(299)}…`);
  assert.is(said('snitch.acknowledged', { note: 'on it' }), 'acknowledged nightly-backup: on it');
});

test('for a field with a long value only the name is given', () => {
  const long = 'x'.repeat(10_000);
  assert.equal(changesBetween({ name: 'x' }, { name: long }, { name: 'name' }), { name: {} });
  const names = Object.fromEntries(Array.from({ length: 50 }, (_, each) => [`f${each}`, `f${each}`]));
  const before = Object.fromEntries(Object.keys(names).map((name) => [name, '']));
  const after = Object.fromEntries(Object.keys(names).map((name) => [name, 'y'.repeat(200)]));
  const kept = keptDetails({ changes: changesBetween(before, after, names), note: long });
  assert.ok(kept.length < 4_000, `${kept.length}`);
  assert.equal(Object.keys((JSON.parse(kept) as { changes: object }).changes), Object.keys(names));
});

test('the document says how long the log is kept, and how much of it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/log.md'), 'utf8');
  assert.match(page, `kept for ${KEPT_FOR / 86_400_000} days`);
  assert.match(page, `at most ${MOST_ENTRIES.toLocaleString('en-US')} of each case`);
});

test.run();
