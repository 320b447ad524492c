import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LONGEST_BY, LONGEST_NOTE, validateAcknowledging } from '../../../src/core/acknowledgement/input.ts';

const test = suite('what may be said with an acknowledgement');

test('every field is optional', () => {
  for (const body of [undefined, null, {}, { note: null, by: '' }, { note: ' \u00a0', other: 1 }]) {
    assert.equal(validateAcknowledging(body), { value: { note: null, by: null } });
  }
});

test('a note and a name are kept without the spaces around them', () => {
  assert.equal(validateAcknowledging({ note: ' on it 🌙 ', by: ' Ann ' }), {
    value: { note: 'on it 🌙', by: 'Ann' },
  });
  const longest = { note: '🌙'.repeat(LONGEST_NOTE), by: 'é'.repeat(LONGEST_BY) };
  assert.equal(validateAcknowledging(longest), { value: longest });
});

test('a field that is too long, not text, or not one line is refused by name', () => {
  const attributes = (body: unknown) =>
    validateAcknowledging(body).validations?.map(({ attribute }) => attribute);
  assert.equal(attributes({ note: 'x'.repeat(LONGEST_NOTE + 1), by: 'x'.repeat(LONGEST_BY + 1) }), [
    'note',
    'by',
  ]);
  for (const bad of [1, [], {}, true, 'a\nb', '\u0000', '\u001b[31m', '\u2028', '\ud800']) {
    assert.equal(attributes({ note: bad }), ['note'], JSON.stringify(bad));
    assert.equal(attributes({ by: bad }), ['by']);
  }
  assert.equal(attributes([]), ['body']);
  assert.equal(attributes('on it'), ['body']);
});

test.run();
