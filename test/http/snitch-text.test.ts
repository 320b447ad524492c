/** The quick way to write a listed snitch writes what `JSON.stringify` does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ListedSnitch } from '../../src/core/snitch.ts';
import { snitchText } from '../../src/http/endpoint/snitch-text.ts';
import { wireSnitch } from '../../src/http/endpoint/wire.ts';

const BASE = 'https://snitch.example.com/"quoted"/c';

const test = suite('the text of a listed snitch');

const plain: ListedSnitch = {
  token: 'tdp3fgnvd3mtomjdoixluplpne',
  name: 'nightly-backup',
  notes: '',
  tags: [],
  alertEmail: [],
  createdAt: Date.UTC(2025, 6, 9, 10, 20),
  state: {
    status: 'pending',
    interval: 'daily',
    alertType: 'basic',
    checkedInAt: null,
    schedule: null,
    timezone: null,
    grace: null,
  },
  lastReport: null,
};

/** Whatever JSON must write in another way, alone and in the middle of a text. */
const TEXTS = [
  '"',
  '\\',
  'a\nb\r\t',
  '\u0000\u001f\u007f',
  '\u2028\u2029',
  '\ud800',
  'x\udfff',
  '😀 é €',
  '</script>',
  '%2F/?#',
];

const variants: Partial<ListedSnitch>[] = [
  {},
  ...TEXTS.flatMap((text) => [
    { name: text },
    { notes: `a${text}b` },
    { tags: [text, 'x'] },
    { alertEmail: [`${text}@example.com`] },
    { lastReport: { at: 1, outcome: 'error' as const, exitStatus: 3, message: text } },
  ]),
  { token: 'a token/with?signs"' },
  { lastReport: { at: 0, outcome: 'healthy', exitStatus: null, message: null } },
  { lastReport: { at: 5, outcome: 'healthy', exitStatus: 0, message: '' } },
  { state: { ...plain.state, checkedInAt: 0, status: 'errored', alertType: 'smart', interval: '15_minute' } },
  { state: { ...plain.state, schedule: { cron: '0 "9" * * *' }, timezone: 'Europe/Berlin', grace: 0 } },
  { state: { ...plain.state, schedule: { every: 90 }, grace: 900 } },
  { state: { ...plain.state, schedule: { calendar: 'Mon *-*-* 06:00:00' }, timezone: '' } },
];

test('it is that of JSON.stringify, whatever the snitch has', () => {
  for (const variant of variants) {
    const snitch = { ...plain, ...variant };
    assert.is(snitchText(snitch, BASE), JSON.stringify(wireSnitch(snitch, BASE)));
  }
});

test.run();
