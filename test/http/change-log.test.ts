/** The changes that a reader of the stream has missed: only of its own case, and only while they are remembered. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChangeLog } from '../../src/http/stream/change-log.ts';

const test = suite('what a reader missed');

test('are the changes of its own case after the event that it had, each snitch once', () => {
  const log = new ChangeLog();
  log.add('acme', 'known');
  const { id } = log;
  log.add('rival', 'theirs');
  log.add('acme', 'first');
  log.add('acme', 'second');
  log.add('acme', 'first');
  assert.equal(log.since('acme', id), ['second', 'first']);
  assert.equal(log.since('rival', id), ['theirs']);
  assert.equal(log.since('nobody', id), []);
  assert.equal(log.since('acme', log.id), []);
});

test('are its own even if a snitch has moved to another case, with its token', () => {
  const log = new ChangeLog();
  log.add('acme', 'moved');
  const { id } = log;
  log.add('acme', 'moved');
  log.add('rival', 'moved');
  assert.equal(log.since('acme', id), ['moved']);
  assert.equal(log.since('rival', id), ['moved']);
});

test('are unknown for an event of another run, and for anything that is not an event', () => {
  const log = new ChangeLog();
  log.add('acme', 'first');
  const [run = ''] = log.id.split(':');
  for (const id of [new ChangeLog().id, run, `${run}:`, `${run}:x`, `${run}:-1`, ':0', '']) {
    assert.is(log.since('acme', id), null, id);
  }
  assert.equal(log.since('acme', `${run}:0`), ['first']);
});

test.run();
