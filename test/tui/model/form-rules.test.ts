/** The fields of the form that say what a run must look like: what is shown, what is sent, what is refused. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireExpectation } from '../../../src/api/wire.ts';
import { UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import type { FormOverlay } from '../../../src/tui/model/form.ts';
import { type Attribute, RUN_ATTRIBUTES } from '../../../src/tui/model/form-fields.ts';
import { formLines } from '../../../src/tui/model/form-lines.ts';
import { expectationsText, readCount, readExpectations } from '../../../src/tui/model/rule-text.ts';
import type { State } from '../../../src/tui/model/state.ts';
import { step } from '../../../src/tui/model/step.ts';
import { after, beginning, keys, read, snitch, typed } from '../samples.ts';

const test = suite('what a run must look like, in the form of the dashboard');

function expectation(changes: Partial<WireExpectation>): WireExpectation {
  return { value: 'bytes', min: null, max: null, of_usual: null, required: true, ...changes };
}

const BYTES = expectation({ min: 1e6, of_usual: [0.5, 3] });
const ERRORS = expectation({ value: 'errors', max: 3, required: false });

const UNLIMITED = {
  max_runtime: null,
  min_runtime: null,
  failures_before_alert: 1,
  expect: null,
};
const LIMITED = { max_runtime: 5_400, min_runtime: 61, failures_before_alert: 3, expect: [BYTES, ERRORS] };

const blank = after(beginning(), read([]), ...keys('n'));
const plain = after(beginning(), read([snitch('job', UNLIMITED)]), ...keys('e'));
const editing = after(beginning(), read([snitch('job', LIMITED)]), ...keys('e'));

function formOf({ overlay }: State): FormOverlay {
  if (overlay?.kind !== 'form') throw new Error('there is no form');
  return overlay;
}

function attributesOf(state: State): Attribute[] {
  return formOf(state).fields.map(({ attribute }) => attribute);
}

/** The texts of the run fields. */
function textsOf(state: State): Record<string, string> {
  const shown = formOf(state).fields.filter(({ attribute }) =>
    RUN_ATTRIBUTES.some((run) => run === attribute),
  );
  return Object.fromEntries(shown.map(({ attribute, field }) => [attribute, field.text]));
}

/** Goes to each of the fields and replaces what it holds. */
function filled(state: State, texts: Partial<Record<Attribute, string>>): State {
  return (Object.keys(texts) as Attribute[]).reduce<State>((present, attribute) => {
    const form = formOf(present);
    const count = form.fields.length;
    const index = form.fields.findIndex((one) => one.attribute === attribute);
    if (index === -1) throw new Error(`${attribute} is not in the form`);
    const tabs = Array.from({ length: (index - form.focus + count) % count }, () => 'tab');
    return after(present, ...keys(...tabs, 'ctrl+e', 'ctrl+u'), ...typed(texts[attribute] ?? ''));
  }, state);
}

function sent(state: State): unknown {
  const [effect] = step(state, { kind: 'key', key: 'enter' }).effects;
  return effect?.do === 'save' ? effect.input : 'nothing was sent';
}

function refusals(state: State): unknown {
  assert.is(sent(state), 'nothing was sent');
  return formOf(after(state, ...keys('enter'))).problems;
}

function shown(state: State, width: number, height: number): string[] {
  const lines = formLines(formOf(state), { width, height, glyphs: UNICODE });
  return lines.map((line) => line.map(({ text }) => text).join(''));
}

test('expectations are read back from the text that they are shown in', () => {
  for (const expect of [
    [BYTES, ERRORS],
    [expectation({})],
    [
      expectation({ min: -5.25, max: -1 }),
      expectation({ value: 'a_1', of_usual: [null, 3], required: false }),
    ],
    [expectation({ min: 3, max: 3 }), expectation({ value: 'rows', of_usual: [2, 2] })],
    [expectation({ min: 1e-7, max: 1.5e21 }), expectation({ value: 'rows', of_usual: [0, null] })],
    [expectation({ min: 1, max: 9, of_usual: [0.1, 20], required: false })],
  ]) {
    const text = expectationsText(expect);
    assert.equal(readExpectations(text), { value: expect }, text);
  }
  assert.is(expectationsText([BYTES, ERRORS]), 'bytes>=1000000, bytes=0.5x..3x, errors?<=3');
  assert.equal(readExpectations(' bytes >= 1M ,, bytes=0.5x..3x,errors?<=3, '), { value: [BYTES, ERRORS] });
  assert.equal([expectationsText(null), readExpectations(' , ')], ['', { value: null }]);
  assert.equal(
    ['', ' 1', '10', '010'].map(readCount),
    [null, 1, 10, 10].map((value) => ({ value })),
  );
});

test('a new snitch is sent those that somebody typed', () => {
  const named = { name: 'job', interval: 'daily', alert_type: 'basic', tags: [], alert_email: [], notes: '' };
  assert.equal(textsOf(blank), {
    max_runtime: '',
    min_runtime: '',
    failures_before_alert: '1',
    expect: '',
    needs: '',
    public_name: '',
  });
  assert.equal(sent(filled(blank, { name: 'job' })), named);
  const whole = filled(blank, {
    name: 'job',
    max_runtime: '1h 30m',
    min_runtime: '61s',
    failures_before_alert: '3',
    expect: 'bytes>=1M, bytes=0.5x..3x, errors?<=3',
  });
  assert.equal(sent(whole), { ...named, ...LIMITED });
});

test('an edit shows what is set, and sends only what was changed', () => {
  assert.equal(textsOf(editing), {
    max_runtime: '90m',
    min_runtime: '61s',
    failures_before_alert: '3',
    expect: 'bytes>=1000000, bytes=0.5x..3x, errors?<=3',
  });
  assert.equal(sent(filled(editing, { name: 'renamed' })), { name: 'renamed' });
  assert.equal(sent(filled(editing, { max_runtime: '2h' })), { max_runtime: 7_200 });
  assert.equal(sent(filled(editing, { expect: 'bytes>=1000000, bytes=0.5x..3x' })), { expect: [BYTES] });
  const emptied = { max_runtime: '', min_runtime: '', failures_before_alert: '', expect: '' };
  assert.equal(sent(filled(editing, emptied)), { ...UNLIMITED, failures_before_alert: null });
  assert.is(after(filled(plain, emptied), ...keys('escape')).overlay, null);
  assert.equal(textsOf(plain), { ...emptied, failures_before_alert: '1' });
});

test('what cannot be read is said at its field in the words of the command line, and nothing is sent', () => {
  const wrong = filled(editing, {
    max_runtime: 'long',
    min_runtime: '5',
    failures_before_alert: '11',
    expect: 'errors<=3, bytes>1',
  });
  assert.equal(refusals(wrong), {
    max_runtime: 'is not a length of time: write 30s, 5m, 2h or 1d',
    min_runtime: 'is not a length of time: write 30s, 5m, 2h or 1d',
    failures_before_alert: 'must be a whole number from 1 to 10',
    expect: '"bytes>1": limits belong to what is allowed: write >= or <=, such as bytes>=1',
  });
  for (const count of ['0', '-1', '1.5', 'two', '99999999999999999999']) {
    assert.equal(refusals(filled(editing, { failures_before_alert: count })), {
      failures_before_alert: 'must be a whole number from 1 to 10',
    });
  }
  const long = filled(plain, { expect: `${'X'.repeat(5_000)}>=1` });
  const { expect = '' } = refusals(long) as Record<string, string>;
  assert.match(expect, /^"X{20,40}…": it begins with the name of a value/);
  const after1 = after(filled(plain, { expect: 'bytes>=1,5' }), ...keys('enter'));
  assert.match(formOf(after1).problems.expect ?? '', '"5": it begins with the name');
  assert.is(
    formOf(after1).fields[formOf(after1).focus]?.attribute,
    'expect',
    'the focus is where it has to be mended',
  );
});

test('what the server refuses is said at the field', () => {
  const validations = [{ attribute: 'min_runtime', message: 'is longer than max_runtime' }];
  const asked = after(filled(plain, { max_runtime: '1m', min_runtime: '2m' }), ...keys('enter'));
  const refused = after(asked, { kind: 'refused', error: 'Invalid.', validations });
  assert.equal(formOf(refused).problems, { min_runtime: 'is longer than max_runtime' });
  assert.match(shown(refused, 80, 30).join('\n'), /❯ Min runtime {2}2m\s+✗ is longer than max_runtime/);
});

test('a server that leaves a field out is not asked for it, neither in a new snitch nor in an edit', () => {
  const fields = (snitches: ReturnType<typeof snitch>[], key: string) =>
    attributesOf(after(beginning(), read(snitches), ...keys(key))).filter((one) =>
      RUN_ATTRIBUTES.some((attribute) => attribute === one),
    );
  for (const key of ['n', 'e']) {
    assert.equal(fields([snitch('old')], key), []);
    assert.equal(fields([snitch('older', { max_runtime: null })], key), ['max_runtime']);
    assert.equal(fields([snitch('new', { ...UNLIMITED, needs: [], public_name: null })], key), [
      ...RUN_ATTRIBUTES,
    ]);
  }
  assert.equal(fields([], 'n'), [...RUN_ATTRIBUTES], 'of a server without snitches nothing is known');
  const old = after(beginning(), read([snitch('old')]), ...keys('n'), ...typed('job'));
  assert.equal(Object.keys(sent(old) as object), [
    'name',
    'interval',
    'alert_type',
    'tags',
    'alert_email',
    'notes',
  ]);
});

test('each field has its caret, its refusal and no line too wide on a screen of 40 columns', () => {
  const wrong = filled(editing, { max_runtime: 'x', expect: `${'errors<=3, '.repeat(20)}bytes>1` });
  const refused = after(wrong, ...keys('enter'));
  const { fields, focus, problems } = formOf(refused);
  for (const height of [1, 3, 7, 12]) {
    for (let tabs = 0; tabs < fields.length; tabs += 1) {
      const field = fields[(focus + tabs) % fields.length];
      const lines = shown(after(refused, ...keys(...Array(tabs).fill('tab'))), 40, height);
      assert.ok(lines.length <= height, `${lines.length} lines of ${height}`);
      assert.ok(lines.every((line) => [...line].length <= 40));
      const at = lines.findIndex((line) => line.startsWith(`❯ ${field?.label}`));
      assert.is.not(at, -1, `${field?.label} at ${height}: ${lines.join('\n')}`);
      if (height < 7 || !field || problems[field.attribute] === undefined) continue;
      const said = lines.slice(at).join(' ').replace(/\s+/g, ' ');
      assert.ok(said.includes(`✗ ${problems[field.attribute]}`), said);
    }
  }
});

test.run();
