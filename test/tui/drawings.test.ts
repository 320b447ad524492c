/** Text, times, bars and strips: what a row is made of. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compactDuration, runDuration } from '../../src/text/durations.ts';
import { editable } from '../../src/text/printable.ts';
import { ago } from '../../src/text/times.ts';
import { displayWidth, fit, fitRight, toAscii, wrapWords } from '../../src/text/width.ts';
import { bar, sparkline, urgency } from '../../src/tui/drawing/bar.ts';
import { ASCII, UNICODE } from '../../src/tui/drawing/glyphs.ts';
import { lastPeriods } from '../../src/tui/drawing/periods.ts';
import { outcomesOf } from '../../src/tui/drawing/strip.ts';
import { scrollTo } from '../../src/tui/drawing/window.ts';
import { columnsFor, GAP, GUTTER } from '../../src/tui/model/columns.ts';
import { DAY, HOUR, iso, MINUTE, NOON } from './samples.ts';

const test = suite('what rows are made of');

test('no control sequence is left in a text that somebody edits', () => {
  assert.is(editable('a\u001b[2Jb\u0007\u009b1m\u202ec\u2028d\u200be\u00adf'), 'a[2Jb1mcdef');
  assert.is(editable('one\r\ntwo\tthree'), 'one two three');
});

test('wide characters are measured as terminals draw them', () => {
  assert.is(displayWidth('夜間'), 4);
  assert.is(fit('夜間バックアップ', 7), '夜間バ…');
  assert.is(fit('夜間バックアップ', 6), '夜間 …');
  assert.is(fit('夜', 4), '夜  ');
  assert.is(fitRight('12m', 6), '   12m');
  assert.is(toAscii('夜a→'), '??a?');
  assert.is(displayWidth(editable('❤️')), 1);
});

test('sentences are broken between words, and words only where they must be', () => {
  assert.equal(wrapWords('one two three', 8), ['one two', 'three']);
  assert.equal(wrapWords('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
  assert.equal(wrapWords('', 4), ['']);
  assert.equal(wrapWords('夜a', 0), ['夜', 'a']);
  assert.equal(wrapWords('ab', -3), ['a', 'b']);
});

test('times are short', () => {
  const lengths = [0, 45_000, 12 * MINUTE, 3 * HOUR + 20 * MINUTE, 12 * HOUR, 5 * DAY + 4 * HOUR, 400 * DAY];
  assert.equal(lengths.map(compactDuration), ['0s', '45s', '12m', '3h20m', '12h', '5d4h', '400d']);
  assert.is(ago(null, NOON), 'never');
  assert.is(ago(NOON - 5_000, NOON), '5s ago');
  assert.equal([850, 4_230, 190_000].map(runDuration), ['850ms', '4.2s', '3m10s']);
});

test('a bar shrinks by half columns, and is as wide when empty', () => {
  assert.equal(bar(1, 4, UNICODE), { filled: '━━━━', rest: '' });
  assert.equal(bar(0.5, 4, UNICODE), { filled: '━━', rest: '··' });
  assert.equal(bar(0.6, 4, UNICODE), { filled: '━━╸', rest: '·' });
  assert.equal(bar(-1, 4, UNICODE), { filled: '', rest: '····' });
  assert.equal(bar(0.5, 4, ASCII), { filled: '##', rest: '..' });
  assert.equal([0.9, 0.4, 0.1].map(urgency), ['green', 'yellow', 'red']);
});

test('a sparkline is scaled to its largest value', () => {
  assert.is(sparkline([0, 50, null, 100], UNICODE), '▁▅ █');
  assert.is(sparkline([0, 0], UNICODE), '▁▁');
});

test('periods before the present one follow the calendar of the time zone', () => {
  const march = { start: Date.UTC(2026, 2, 29, 23), end: Date.UTC(2026, 2, 30, 22) };
  const days = lastPeriods('daily', 'Europe/Berlin', { start: march.start - HOUR, end: march.end }, 3);
  assert.equal(
    days.map(({ start }) => iso(start)),
    ['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  );
  const hours = lastPeriods('2_hour', 'UTC', { start: NOON, end: NOON + 2 * HOUR }, 2);
  assert.is(hours[0]?.start, NOON - 2 * HOUR);
});

test('each period is met, missed, errored, paused, open or unknown', () => {
  const periods = lastPeriods('hourly', 'UTC', { start: NOON, end: NOON + HOUR }, 6);
  const at = (hoursAgo: number) => iso(NOON - hoursAgo * HOUR + 5 * MINUTE);
  const checkIns = [
    { at: at(2), outcome: 'error' as const },
    { at: at(2), outcome: 'healthy' as const },
    { at: at(4), outcome: 'healthy' as const },
  ];
  const history = { checkIns, more: false, createdAt: NOON - DAY, pausedSince: null };
  assert.equal(outcomesOf(periods, history), ['unknown', 'met', 'missed', 'errored', 'missed', 'open']);
  const paused = { ...history, pausedSince: NOON - HOUR + MINUTE };
  assert.equal(outcomesOf(periods, paused).slice(-2), ['paused', 'paused']);
});

test('columns fill every width exactly, and the narrow ones keep what matters', () => {
  for (let width = 40; width <= 250; width += 1) {
    const columns = columnsFor(width);
    const used = GUTTER + columns.reduce((sum, column) => sum + column.width, 0) + GAP * (columns.length - 1);
    assert.is(used, width, `at ${width}`);
  }
  assert.equal(
    columnsFor(40).map(({ id }) => id),
    ['status', 'name', 'last', 'due'],
  );
});

test('a list scrolls no further than it must', () => {
  assert.is(scrollTo(0, 5, 10, 100), 0);
  assert.is(scrollTo(20, 5, 10, 100), 11);
  assert.is(scrollTo(8, 5, 10, 100), 5);
  assert.is(scrollTo(99, 5, 10, 100), 90);
  assert.is(scrollTo(2, 90, 10, 4), 0);
});

test.run();
