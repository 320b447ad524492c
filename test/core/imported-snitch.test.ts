/** An imported snitch is checked like a new one, and so is the token it brings. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { importedAttribute, validateImportedSnitch } from '../../src/core/imported-snitch.ts';
import { ANY_RUN } from '../../src/core/judgement/rules.ts';

const test = suite('imported snitches');

const SAID = { timezone: 'UTC', now: 0 };
const NOT_SCHEDULED = { schedule: null, timezone: null, grace: null };
const LEAST = { name: 'nightly', interval: 'daily' };

function refusals(body: unknown): string[] {
  return (validateImportedSnitch(body, SAID).validations ?? []).map(
    ({ attribute, message }) => `${attribute} ${message}`,
  );
}

test('it keeps the token that it brings, and otherwise gets one', () => {
  const rest = {
    ...LEAST,
    notes: '',
    tags: [],
    alertEmail: [],
    alertType: 'basic',
    ...NOT_SCHEDULED,
    maxRuntime: null,
    ...ANY_RUN,
    needs: [],
  };
  assert.equal(validateImportedSnitch(LEAST, SAID), { value: { ...rest, token: null } });
  assert.equal(validateImportedSnitch({ ...LEAST, token: null }, SAID), { value: { ...rest, token: null } });
  assert.equal(validateImportedSnitch({ ...LEAST, token: 'My_token-1' }, SAID), {
    value: { ...rest, token: 'My_token-1' },
  });
});

test('a token must fit into an address, and must not be a path of the server', () => {
  const refused = ['token must be 6 to 64 letters, digits, hyphens or underscores'];
  for (const token of ['abcdef', 'x'.repeat(64)]) assert.equal(refusals({ ...LEAST, token }), []);
  const bad = [
    '',
    'abcde',
    'x'.repeat(65),
    'abc/def',
    'abc def',
    'abcdef\n',
    7,
    {},
    'healthz',
    'readyz',
    'metrics',
  ];
  for (const token of bad) assert.equal(refusals({ ...LEAST, token }), refused, String(token));
});

test('all faults are reported at once', () => {
  assert.equal(refusals({ interval: 'daily', token: 'no' }), [
    "name can't be blank",
    'token must be 6 to 64 letters, digits, hyphens or underscores',
  ]);
  assert.equal(refusals({ interval: 'daily', token: 'good-one' }), ["name can't be blank"]);
  for (const body of [null, [], 'text', 7, undefined]) {
    assert.equal(refusals(body), ['body must be a JSON object'], String(body));
  }
  assert.is(importedAttribute(3, 'name'), 'snitches[3].name');
});

test.run();
