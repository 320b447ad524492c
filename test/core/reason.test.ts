import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorReported, isSameReason, type Reason, reasonInWords } from '../../src/core/reason.ts';

const test = suite('reasons');

const inWords = (reason: Reason) => reasonInWords(reason, (at) => `<${at}>`);

test('each reason is put into words', () => {
  assert.is(inWords({ kind: 'noCheckIn', by: 5 }), 'no check-in by <5>');
  assert.is(
    inWords({ kind: 'noCheckIn', by: 5, startedAt: 3 }),
    'no check-in by <5>: a run that started at <3> has not ended',
  );
  assert.is(inWords({ kind: 'overran', startedAt: 3 }), 'a run that started at <3> has not ended');
  assert.is(
    inWords({ kind: 'overran', startedAt: 3, endedAt: 9 }),
    'a run that started at <3> ended only at <9>',
  );
  assert.is(inWords({ kind: 'exitStatus', status: 3 }), 'exit status 3');
  assert.is(inWords({ kind: 'error' }), 'the job reported an error');
  assert.is(inWords({ kind: 'checkedIn' }), 'a healthy check-in');
  assert.is(inWords({ kind: 'checkedIn', first: true }), 'the first check-in');
  assert.is(inWords({ kind: 'checkedIn', first: true, tookMs: 90_000 }), 'a run ended well after 1 min 30 s');
  assert.is(inWords({ kind: 'checkedIn', tookMs: 0 }), 'a run ended well after less than a second');
  assert.is(inWords({ kind: 'paused', until: 'healthy' }), 'paused until its next healthy check-in');
  assert.is(inWords({ kind: 'paused', until: 'unpaused' }), 'paused until somebody unpauses it');
  assert.is(inWords({ kind: 'paused', until: 7 }), 'paused until <7>');
});

test('an error is named by its exit status, where it has one', () => {
  assert.equal(errorReported(3), { kind: 'exitStatus', status: 3 });
  assert.equal(errorReported(null), { kind: 'error' });
  // As reported to /fail together with `s=0`.
  assert.equal(errorReported(0), { kind: 'error' });
});

test('two reasons are the same if they say the same', () => {
  assert.ok(isSameReason(null, null));
  assert.ok(isSameReason({ kind: 'exitStatus', status: 3 }, { kind: 'exitStatus', status: 3 }));
  assert.not(isSameReason({ kind: 'exitStatus', status: 3 }, { kind: 'exitStatus', status: 4 }));
  assert.not(isSameReason({ kind: 'error' }, null));
});

test.run();
