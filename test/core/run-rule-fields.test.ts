/** What a client may say of how a run must look, and the words in which it is refused. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readRunFields } from '../../src/core/run-fields.ts';
import { readRunRules } from '../../src/core/run-rule-fields.ts';
import { readNewSnitch, readSnitchChanges } from '../../src/core/snitch-input.ts';

const test = suite('the fields that say how a run must look');

const SAID = { timezone: 'UTC', now: 0 };

function refusals(body: Record<string, unknown>): string[] {
  return (readRunRules(body).validations ?? []).map(({ attribute, message }) => `${attribute} ${message}`);
}

const one = (expectation: unknown) => refusals({ expect: [expectation] });

test('what is right comes back in its full form', () => {
  const { value } = readRunRules({
    min_runtime: 300,
    failures_before_alert: 3,
    expect: [
      { value: 'bytes', min: 1 },
      { value: 'rows', of_usual: [0.5, null], required: false },
      { value: 'x' },
    ],
  });
  assert.equal(value, {
    minRuntime: 300,
    failuresBeforeAlert: 3,
    expect: [
      { value: 'bytes', min: 1, max: null, of_usual: null, required: true },
      { value: 'rows', min: null, max: null, of_usual: [0.5, null], required: false },
      { value: 'x', min: null, max: null, of_usual: null, required: true },
    ],
  });
});

test('the least and the most that may be said', () => {
  const said = (min_runtime: number, failures_before_alert: number) =>
    readRunRules({ min_runtime, failures_before_alert }).value;
  assert.equal(said(1, 1), { minRuntime: 1, failuresBeforeAlert: 1 });
  assert.equal(said(2_678_400, 10), { minRuntime: 2_678_400, failuresBeforeAlert: 10 });
});

test('null takes each back, and an empty list is nothing', () => {
  const none = { minRuntime: null, failuresBeforeAlert: 1, expect: null };
  const taken = { min_runtime: null, failures_before_alert: null, expect: null };
  assert.equal(readRunRules(taken).value, none);
  assert.equal(readRunRules({ expect: [] }).value, { expect: null });
  assert.equal(readRunRules({}).value, {});
  assert.equal(readRunFields({ max_runtime: null }).value, { maxRuntime: null });
  assert.equal(readRunFields({}).value, {});
});

test('numbers that make no sense are refused', () => {
  const runtime = 'min_runtime must be a whole number of seconds from 1 to 2678400';
  for (const given of [0, -1, 2_678_401, 1.5, '300', true, [], {}]) {
    assert.equal(refusals({ min_runtime: given }), [runtime], String(given));
  }
  const failures = 'failures_before_alert must be a whole number from 1 to 10';
  for (const given of [0, 11, 2.5, '3', {}]) {
    assert.equal(refusals({ failures_before_alert: given }), [failures], String(given));
  }
});

test('an expectation that is not understood is named, with what to write', () => {
  const name = 'a name is a lower-case letter, then up to 31 lower-case letters, digits or _';
  const factors =
    'has an of_usual that is not two factors, the lower first, such as [0.5, 3]; null for no limit';
  assert.equal(refusals({ expect: 'bytes>1' }), [
    'expect must be a list such as [{"value": "bytes", "min": 1}]',
  ]);
  assert.equal(one('bytes'), ['expect number 1 must be an object such as {"value": "bytes", "min": 1}']);
  for (const value of [undefined, null, '', 'Bytes', '1bytes', 'b'.repeat(33), 'a-b', 7]) {
    assert.equal(one({ value, min: 1 }), [`expect number 1 has no value to expect: ${name}`], String(value));
  }
  assert.equal(one({ value: 'bytes', min: '1' }), ['expect of bytes has a min that is not a number']);
  assert.equal(one({ value: 'bytes', max: Number.POSITIVE_INFINITY }), [
    'expect of bytes has a max that is not a number',
  ]);
  assert.equal(one({ value: 'bytes', min: 2, max: 1 }), [
    'expect of bytes can never be met: its min 2 is above its max 1',
  ]);
  for (const ofUsual of [3, [1], [3, 0.5], [-1, 2], ['0.5', 3], [1, 2, 3], [undefined, 3]]) {
    assert.equal(one({ value: 'bytes', of_usual: ofUsual }), [`expect of bytes ${factors}`], String(ofUsual));
  }
  assert.equal(one({ value: 'bytes', required: 'yes' }), [
    'expect of bytes has a required that is neither true nor false',
  ]);
  assert.equal(one({ value: 'bytes', required: false }), [
    'expect of bytes expects nothing: give min, max, of_usual or "required": true',
  ]);
});

test('no value is named twice, and there are at most twenty', () => {
  const many = Array.from({ length: 21 }, (_, index) => ({ value: `v${index}` }));
  assert.equal(refusals({ expect: many }), ['expect has too many expectations (maximum is 20)']);
  assert.equal(refusals({ expect: many.slice(1) }), []);
  assert.equal(
    refusals({
      expect: [
        { value: 'a', min: 1 },
        { value: 'a', max: 2 },
      ],
    }),
    ['expect names a twice: say all of it in one'],
  );
});

test('they are read with a new snitch and with a change, beside everything else that is wrong', () => {
  const body = { name: 'backup', interval: 'daily', min_runtime: 60 };
  assert.is(readNewSnitch(body, SAID).value?.minRuntime, 60);
  assert.is(readNewSnitch(body, SAID).value?.failuresBeforeAlert, 1);
  const wrong = readNewSnitch({ interval: 'daily', expect: 7, min_runtime: 0 }, SAID).validations;
  assert.equal(
    wrong?.map(({ attribute }) => attribute),
    ['name', 'min_runtime', 'expect'],
  );
  const stored = {
    interval: 'daily',
    alertType: 'basic',
    schedule: null,
    timezone: null,
    grace: null,
  } as const;
  assert.equal(readSnitchChanges({ expect: null }, stored, SAID).value, { expect: null });
});

test('a run cannot have to take longer than it may', () => {
  const body = { name: 'backup', interval: 'daily', min_runtime: 61, max_runtime: 60 };
  assert.equal(readNewSnitch(body, SAID).validations, [
    { attribute: 'min_runtime', message: 'is longer than max_runtime' },
  ]);
  assert.is(readNewSnitch({ ...body, min_runtime: 60 }, SAID).value?.minRuntime, 60);
});

test.run();
