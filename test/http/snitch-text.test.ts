/** The quick way to write a listed snitch writes what `JSON.stringify` does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ANY_RUN } from '../../src/core/judgement/rules.ts';
import type { ListedSnitch } from '../../src/core/snitch.ts';
import { snitchText } from '../../src/http/endpoint/snitch-text.ts';
import { wireSnitch } from '../../src/http/endpoint/wire.ts';

const SHOWN = { checkInBase: 'https://snitch.example.com/"quoted"/c', timezone: 'Asia/Kathmandu' };

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
    dueAt: null,
    reason: null,
    maxRuntime: null,
    acknowledged: null,
    ...ANY_RUN,
  },
  lastReport: null,
  missingSince: null,
  needs: [],
  hold: null,
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

const acknowledged = (note: string | null) => ({
  state: { ...plain.state, acknowledged: { at: 1, note, by: 'Ann "the" key' } },
});

const variants: Partial<ListedSnitch>[] = [
  {},
  acknowledged(null),
  ...TEXTS.flatMap((text) => [
    { name: text },
    { notes: `a${text}b` },
    acknowledged(text),
    { tags: [text, 'x'] },
    { alertEmail: [`${text}@example.com`] },
    { lastReport: { at: 1, outcome: 'error' as const, exitStatus: 3, message: text } },
  ]),
  { token: 'a token/with?signs"' },
  { silenced: { id: 'sil_a', until: 86_400_000, by: 'key "1"', note: 'kernel\n"x"' } },
  { needs: ['a"b', 'tag:db'] },
  { hold: { by: { token: 'x', name: '"db1"' }, since: 0, until: null } },
  { hold: { by: null, since: 0, until: 5 } },
  { lastReport: { at: 0, outcome: 'healthy', exitStatus: null, message: null } },
  { lastReport: { at: 5, outcome: 'healthy', exitStatus: 0, message: '' } },
  { lastReport: { at: 5, outcome: 'error', exitStatus: null, message: null, reason: 'bytes "is" missing' } },
  {
    missingSince: 86_400_000,
    state: { ...plain.state, status: 'failed', reason: { kind: 'noCheckIn', by: 86_400_000 } },
  },
  {
    state: {
      ...plain.state,
      status: 'errored',
      reason: { kind: 'exitStatus', status: 3 },
      dueAt: 172_800_000,
    },
  },
  {
    state: {
      ...plain.state,
      status: 'paused',
      reason: { kind: 'exitStatus', status: 3 },
      dueAt: 172_800_000,
    },
  },
  {
    state: {
      ...plain.state,
      maxRuntime: 7_200,
      minRuntime: 60,
      failuresBeforeAlert: 3,
      expect: [{ value: 'bytes', min: 1, max: null, of_usual: [0.5, null], required: true }],
    },
  },
  { state: { ...plain.state, checkedInAt: 0, status: 'errored', alertType: 'smart', interval: '15_minute' } },
  { state: { ...plain.state, schedule: { cron: '0 "9" * * *' }, timezone: 'Europe/Berlin', grace: 0 } },
  { state: { ...plain.state, schedule: { every: 90 }, grace: 900 } },
  { state: { ...plain.state, schedule: { calendar: 'Mon *-*-* 06:00:00' }, timezone: '' } },
];

test('it is that of JSON.stringify, whatever the snitch has', () => {
  for (const variant of variants) {
    const snitch = { ...plain, ...variant };
    assert.is(snitchText(snitch, SHOWN), JSON.stringify(wireSnitch(snitch, SHOWN)));
  }
});

test.run();
