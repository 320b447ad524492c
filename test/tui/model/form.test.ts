/** The form: a schedule in one field, what is sent, and the next runs while it is typed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireScheduleCheck } from '../../../src/api/wire-explanation.ts';
import { UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import type { Foreseen } from '../../../src/tui/model/foreseen.ts';
import type { FormOverlay } from '../../../src/tui/model/form.ts';
import { formLines } from '../../../src/tui/model/form-lines.ts';
import { lengthText, readSchedule, scheduleText } from '../../../src/tui/model/schedule-text.ts';
import type { Effect, State } from '../../../src/tui/model/state.ts';
import { step } from '../../../src/tui/model/step.ts';
import { after, beginning, HOUR, iso, keys, MINUTE, NOON, read, snitch, typed } from '../samples.ts';

const test = suite('the form of the dashboard');

const scheduled = snitch('job', {
  interval: 'weekly',
  schedule: { cron: '0 3 * * 1-5' },
  timezone: 'Asia/Tokyo',
  grace: 600,
});

const blank = after(beginning(), read([]), ...keys('n'));
const editing = after(beginning(), read([scheduled]), ...keys('e'));

function formOf({ overlay }: State): FormOverlay {
  if (overlay?.kind !== 'form') throw new Error('there is no form');
  return overlay;
}

/** Fills in the fields from the top; undefined leaves one as it is. */
function filled(state: State, ...texts: (string | undefined)[]): State {
  return texts.reduce<State>((present, text) => {
    const events = text === undefined ? [] : [...keys('ctrl+e', 'ctrl+u'), ...typed(text)];
    return after(present, ...events, ...keys('tab'));
  }, state);
}

function sent(state: State): unknown {
  const { effects, state: next } = step(state, { kind: 'key', key: 'enter' });
  const [effect] = effects;
  return effect?.do === 'save' ? effect.input : (next.overlay as FormOverlay | null)?.problems;
}

/** What the last of these keys asks the server. */
function asks(state: State, ...names: string[]): readonly Effect[] {
  const last = names.pop() ?? '';
  return step(after(state, ...keys(...names)), { kind: 'key', key: last }).effects;
}

const answer: WireScheduleCheck = {
  interval: 'daily',
  timezone: 'UTC',
  grace: 0,
  runs: [{ at: iso(NOON + HOUR), deadline: iso(NOON + HOUR + 5 * MINUTE) }],
};

function foreseen(state: State, changes: Partial<Foreseen> = {}): State {
  const asked = formOf(state).preview.asked ?? '';
  const nothing = { asked, answer: null, validations: [], error: null, isUnknown: false };
  return after(state, { kind: 'foreseen', foreseen: { ...nothing, ...changes } });
}

function shown(state: State, width = 80, height = 40): string[] {
  const lines = formLines(formOf(state), { width, height, glyphs: UNICODE });
  return lines.map((line) => line.map(({ text }) => text).join(''));
}

test('one field understands cron, OnCalendar and every, also half typed', () => {
  for (const [text, schedule] of [
    ['', null],
    ['  ', null],
    ['0 3 * * 1-5', { cron: '0 3 * * 1-5' }],
    ['*/5 * * * *', { cron: '*/5 * * * *' }],
    ['@daily', { cron: '@daily' }],
    ['0 3', { cron: '0 3' }],
    ['*', { cron: '*' }],
    ['0 0 3 * * 1', { cron: '0 0 3 * * 1' }],
    ['cron: 0 3 * * *', { cron: '0 3 * * *' }],
    ['Mon..Fri 03:00', { calendar: 'Mon..Fri 03:00' }],
    ['*-*-* 03:00', { calendar: '*-*-* 03:00' }],
    ['*:0/15', { calendar: '*:0/15' }],
    ['10-15 03:00', { calendar: '10-15 03:00' }],
    ['03:00', { calendar: '03:00' }],
    ['daily', { calendar: 'daily' }],
    ['OnCalendar=Mon 04:00', { calendar: 'Mon 04:00' }],
    ['calendar 10-15', { calendar: '10-15' }],
    ['every 90m', { every: 5_400 }],
    ['Every  1 h 30 min', { every: 5_400 }],
  ] as const) {
    assert.equal(readSchedule(text), { value: schedule }, text);
    if (schedule !== null) assert.equal(readSchedule(scheduleText(schedule)), { value: schedule }, text);
  }
  for (const text of ['every', 'every day', 'every 5']) assert.ok('problem' in readSchedule(text), text);
  assert.equal([0, 61, 600, 5_400, 7_200, 86_400].map(lengthText), ['0s', '61s', '10m', '90m', '2h', '1d']);
});

test('a new snitch with a schedule leaves the interval to the server, unless somebody typed one', () => {
  const named = { name: 'job', alert_type: 'basic', tags: [], alert_email: [], notes: '' };
  assert.equal(sent(filled(blank, 'job')), { ...named, interval: 'daily' });
  const schedule = { cron: '0 3 * * *' };
  assert.equal(sent(filled(blank, 'job', undefined, '0 3 * * *')), { ...named, schedule });
  assert.equal(sent(filled(blank, 'job', 'hourly', '0 3 * * *', ' Europe/Berlin ', '10m')), {
    ...named,
    interval: 'hourly',
    schedule,
    timezone: 'Europe/Berlin',
    grace: 600,
  });
  assert.equal(sent(filled(blank, 'job', 'hourly', '', '', '1h')), {
    ...named,
    interval: 'hourly',
    grace: 3_600,
  });
});

test('what cannot be read is said at its field, and nothing is sent', () => {
  assert.equal(sent(filled(blank, 'job', undefined, '0 3 * * *', '', 'soon')), {
    grace: 'is not a length of time: write 30s, 5m, 2h or 1d',
  });
  assert.equal(sent(filled(blank, 'job', undefined, 'every', 'UTC')), {
    schedule: '"" is not a length of time: write 30s, 5m, 2h or 1d',
  });
  assert.equal(sent(filled(blank, 'job', 'daily', '', 'UTC')), {
    timezone: 'needs a schedule, and there is none',
  });
});

test('an edit sends what was changed, and keeps the schedule that the form shows', () => {
  assert.equal(sent(filled(editing, 'renamed')), { name: 'renamed' });
  assert.equal(sent(filled(editing, undefined, 'daily')), {
    interval: 'daily',
    schedule: { cron: '0 3 * * 1-5' },
  });
  assert.equal(sent(filled(editing, undefined, undefined, '@daily')), { schedule: { cron: '@daily' } });
  assert.equal(sent(filled(editing, undefined, undefined, '')), { schedule: null, timezone: null });
  assert.equal(sent(filled(editing, undefined, undefined, undefined, '', '')), {
    timezone: null,
    grace: null,
  });
});

test('what is typed is asked, each once, and not without a schedule', () => {
  const input = { schedule: { cron: '@daily' } };
  const at = after(blank, ...keys('tab', 'tab'));
  assert.equal(asks(at, ...'@daily'), [
    { do: 'foresee', asked: JSON.stringify({ input }), question: { input } },
  ]);
  assert.equal(asks(at, ...'@daily', 'left'), [], 'the same text is not asked again');
  assert.equal(asks(at, 'space', 'backspace'), []);
  assert.equal(asks(blank, 'x'), []);
  const [opened] = step(after(beginning(), read([scheduled])), { kind: 'key', key: 'e' }).effects;
  assert.ok(opened?.do === 'foresee');
  assert.equal(opened.question, {
    input: { schedule: { cron: '0 3 * * 1-5' }, timezone: 'Asia/Tokyo', grace: 600 },
  });
  const [pasted] = step(at, { kind: 'paste', text: '@weekly' }).effects;
  assert.is(pasted?.do, 'foresee');
  const wrong = asks(at, ...'@daily', 'tab', 'tab', 'x');
  assert.equal(wrong[0]?.do === 'foresee' && 'problems' in wrong[0].question, true);
});

test('the answer is shown below the field; one to an earlier question is dropped', () => {
  const told = foreseen(editing, { answer });
  assert.ok(shown(told).some((line) => /^ +Sat 2026-03-14 13:00 \+00:00 by 13:05$/.test(line)));
  const typing = after(told, ...keys('tab', 'tab', 'space', 'x'));
  assert.not.match(shown(typing).join('\n'), '13:00');
  assert.match(shown(typing).join('\n'), 'Working out the next runs…');
  assert.equal(foreseen(typing, { asked: formOf(editing).preview.asked ?? '', answer }), typing);
  const away = after(told, ...keys('escape'));
  assert.is(after(away, { kind: 'foreseen', foreseen: { ...FAILED, answer } }).overlay, null);
});

const FAILED: Foreseen = { asked: '', answer: null, validations: [], error: null, isUnknown: false };

test('what the server refuses is said at the field while it is typed, and blocks nothing', () => {
  const validations = [
    { attribute: 'timezone', message: 'is not a time zone' },
    { attribute: 'schedule', message: 'has only 2 fields\u001b[2J' },
  ];
  const refused = foreseen(after(editing, ...keys('tab')), { validations, error: 'Invalid.' });
  const lines = shown(refused).join('\n');
  assert.match(lines, '✗ is not a time zone');
  assert.match(lines, '✗ has only 2 fields\\u001b[2J');
  assert.is(formOf(refused).focus, 1, 'the focus stays where somebody types');
  assert.is(fieldText(after(refused, ...typed('x'))), 'weeklyx');
  const away = foreseen(editing, { error: 'cannot reach http://127.0.0.1:7676' });
  assert.match(shown(away).join('\n'), 'The next runs are not known: cannot reach');
});

function fieldText(state: State): string {
  const form = formOf(state);
  return form.fields[form.focus]?.field.text ?? '';
}

test('a schedule is not sent to a server that is too old for it', () => {
  const old = foreseen(after(blank, ...typed('job'), ...keys('tab', 'tab'), ...typed('@daily')), {
    isUnknown: true,
    error: 'There is nothing here.',
  });
  assert.match(shown(old).join('\n'), 'The server is too old to know schedules');
  assert.match(JSON.stringify(sent(old)), 'must be updated first');
  assert.ok('name' in (sent(after(old, ...keys('ctrl+u'))) as object), 'without one it is');
});

test('a problem goes away when its field is changed', () => {
  const validations = [{ attribute: 'interval', message: 'is not a valid interval' }];
  const refused = after(blank, ...keys('enter'), { kind: 'refused', error: 'Invalid.', validations });
  assert.match(shown(refused).join('\n'), 'is not a valid interval');
  assert.not.match(shown(after(refused, ...keys('x'))).join('\n'), 'is not a valid interval');
  assert.match(shown(after(refused, ...keys('tab', 'x'))).join('\n'), 'is not a valid interval');
});

test('the field that is typed in is on the screen, with its next runs and the caret, at any size', () => {
  const told = foreseen(editing, { answer });
  for (const height of [1, 2, 3, 7, 12]) {
    for (let focus = 0; focus < formOf(told).fields.length; focus += 1) {
      const lines = shown(after(told, ...keys(...Array(focus).fill('tab'))), 40, height);
      assert.ok(lines.length <= height, `${lines.length} lines of ${height}`);
      assert.ok(
        lines.some((line) => line.startsWith('❯')),
        `field ${focus} at ${height}: ${lines.join('\n')}`,
      );
    }
  }
  const onSchedule = shown(after(told, ...keys('tab', 'tab')), 40, 7);
  assert.ok(
    onSchedule.some((line) => line.includes('13:00 +00:00 by 13:05')),
    onSchedule.join('\n'),
  );
  const long = after(blank, ...typed(`${'x'.repeat(60)}the end`));
  assert.ok(shown(long, 40)[2]?.includes('the end'), shown(long, 40)[2]);
  assert.ok(shown(after(long, ...keys('home')), 40)[2]?.includes('xxxxxxxxxx'));
});

test.run();
