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

const TAGS = ['nightly'];

const variants: Partial<ListedSnitch>[] = [
  {},
  { tags: TAGS },
  { tags: TAGS, notes: 'b' },
  { tags: TAGS, publicName: 'Backups' },
  { tags: TAGS, publicName: null },
  { state: { ...plain.state, status: 'healthy', checkedInAt: 5, dueAt: 86_400_000 } },
  { state: { ...plain.state, status: 'healthy', checkedInAt: 5, dueAt: 0 } },
  { state: { ...plain.state, status: 'errored' } },
  { state: { ...plain.state, interval: 'weekly' } },
  { state: { ...plain.state, alertType: 'smart' } },
  { state: { ...plain.state, timezone: 'Europe/Berlin' } },
  { state: { ...plain.state, grace: 60 } },
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

test('it is the same whatever snitch was written before it', () => {
  const snitches = variants.map((variant) => ({ ...plain, ...variant }));
  const wanted = snitches.map((snitch) => JSON.stringify(wireSnitch(snitch, SHOWN)));
  for (const before of snitches) {
    for (const [index, snitch] of snitches.entries()) {
      snitchText(before, SHOWN);
      assert.is(snitchText(snitch, SHOWN), wanted[index]);
    }
  }
});

test('it names the address and the time zone of whoever is shown it', () => {
  const failed = variants.filter(({ state }) => state?.reason).map((variant) => ({ ...plain, ...variant }));
  for (const shown of [SHOWN, { checkInBase: '', timezone: 'UTC' }, SHOWN]) {
    for (const snitch of failed)
      assert.is(snitchText(snitch, shown), JSON.stringify(wireSnitch(snitch, shown)));
  }
});

test.run();
