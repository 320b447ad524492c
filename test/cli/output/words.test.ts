import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { INTERVALS } from '../../../src/api/intervals.ts';
import { parseUntil } from '../../../src/cli/command/duration.ts';
import { parsePlainYaml } from '../../../src/cli/command/plain-yaml.ts';
import { intervalOf } from '../../../src/cli/output/interval-words.ts';
import { jsonText } from '../../../src/cli/output/output.ts';
import { tableLines } from '../../../src/cli/output/table.ts';
import { clockOf } from '../../../src/cli/output/zone-clock.ts';
import { INTERVALS as CORE_INTERVALS } from '../../../src/core/interval.ts';
import { durationOf, shortDuration } from '../../../src/text/durations.ts';
import { signsFor, UNICODE_SIGNS } from '../../../src/text/signs.ts';
import { similar } from '../../../src/text/similar.ts';
import { relativeTime } from '../../../src/text/times.ts';
import { displayWidth, pad, truncate } from '../../../src/text/width.ts';

const words = suite('words of the command line');
const NOW = Date.UTC(2026, 2, 4, 12);

words('clients know the intervals that the service has', () => {
  assert.equal([...INTERVALS], [...CORE_INTERVALS]);
});

words('width counts columns of a terminal', () => {
  const widths: [string, number][] = [
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['ﾊﾝ', 2],
    ['한국', 4],
    ['✅', 2],
    ['✓', 1],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['𠮷', 2],
    ['', 0],
  ];
  for (const [text, width] of widths) assert.is(displayWidth(text), width, text);
});

words('text is cut between characters, and never wider than allowed', () => {
  assert.is(truncate('abcdef', 4), 'abc…');
  assert.is(truncate('日本語', 4), '日…');
  assert.is(truncate('日本語', 5), '日本…');
  assert.is(truncate('👍🏽👍🏽', 3), '👍🏽…');
  assert.is(truncate('e\u0301e\u0301e\u0301', 2), 'e\u0301…');
  assert.is(truncate('ab', 0), '');
  assert.is(pad('日', 4, 'right'), '  日');
});

words('JSON on a terminal keeps its value', () => {
  assert.is(JSON.parse(jsonText('\u202e\u009b\u{e0041}')), '\u202e\u009b\u{e0041}');
  assert.not.match(jsonText('\u202e\u009b\u{e0041}'), /[\p{Cc}\p{Cf}]/u);
});

words('a table shrinks what may shrink, then leaves out what is optional', () => {
  const columns = [
    { header: 'NAME', cell: (item: string) => item, shrinkTo: 6 },
    { header: 'STATE', cell: () => 'healthy' },
    { header: 'EXTRA', cell: () => 'optional', optional: true },
  ];
  const style = { terminal: true, color: false, now: NOW, signs: UNICODE_SIGNS };
  const lines = (width: number) => [...tableLines(['a-long-name'], columns, { ...style, width })];
  assert.equal(lines(80), ['NAME         STATE    EXTRA', 'a-long-name  healthy  optional']);
  assert.equal(lines(27), ['NAME      STATE    EXTRA', 'a-long-…  healthy  optional']);
  assert.equal(lines(20), ['NAME         STATE', 'a-long-name  healthy']);
  assert.equal(lines(16), ['NAME     STATE', 'a-long…  healthy']);
  for (let width = 1; width < 30; width += 1) {
    for (const line of lines(width)) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
  }
});

words('signs are Unicode only where the environment says so', () => {
  const isUnicode = (env: NodeJS.ProcessEnv) => signsFor(env) === UNICODE_SIGNS;
  assert.ok(isUnicode({ LANG: 'de_DE.UTF-8' }));
  assert.ok(isUnicode({ LANG: 'C', LC_CTYPE: 'en_US.utf8' }));
  assert.not(isUnicode({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }));
  assert.not(isUnicode({ LANG: 'de_DE' }));
  assert.not(isUnicode({}));
});

words('a sentence has its times on one clock, a doubled hour too', () => {
  const sentence = 'It came at 2026-10-25 02:30:00 (Europe/Berlin), not at 2026-01-02 03:04:05 (Mars).';
  const early = '2026-10-25T00:30:00.000Z';
  const late = '2026-10-25T01:30:00.000Z';
  const of = (zone: string, known: string[]) =>
    clockOf(zone)
      .inSentence(sentence, 'Europe/Berlin', known)
      .replace(/^It came at (.*), not .*$/, '$1');
  assert.is(of('Europe/Berlin', []), '2026-10-25 02:30:00');
  assert.is(of('UTC', [early]), '2026-10-25 00:30:00');
  assert.is(of('UTC', [late]), '2026-10-25 01:30:00');
  assert.is(of('UTC', []), '2026-10-25 00:30:00');
  assert.match(
    clockOf('UTC').inSentence(sentence, 'Europe/Berlin', []),
    'not at 2026-01-02 03:04:05 (Mars).',
  );
  assert.is(clockOf('Mars/\u001b[2J').zone, 'UTC');
  assert.is(clockOf('Asia/Kolkata').at(early), '2026-10-25 06:00:00');
});

words('durations as people type them', () => {
  const hour = 3_600_000;
  for (const [text, ms] of [
    ['2h', 2 * hour],
    ['1d12h', 36 * hour],
    ['1 day 2 hours', 26 * hour],
    ['90s', 90_000],
    ['1.5h', 1.5 * hour],
    ['250ms', 250],
    ['2w', 14 * 24 * hour],
  ] as const) {
    assert.is(durationOf(text), ms, text);
  }
  for (const text of ['', 'h', '2', '2x', '2h!', 'two hours']) assert.is(durationOf(text), null, text);
});

words('--until takes conditions, lengths, times and days', () => {
  assert.is(parseUntil('healthy', NOW), 'healthy');
  assert.is(parseUntil('forever', NOW), 'unpaused');
  assert.is(parseUntil('2h', NOW), '2026-03-04T14:00:00.000Z');
  assert.is(parseUntil('2026-04-01T08:00:00+02:00', NOW), '2026-04-01T06:00:00.000Z');
  assert.is(new Date(parseUntil('monday', NOW)).getDay(), 1);
  assert.is(new Date(parseUntil('14:30', NOW)).getMinutes(), 30);
  assert.ok(Date.parse(parseUntil('14:30', NOW)) > NOW);
  assert.is(new Date(parseUntil('2026-04-01', NOW)).getHours(), 0, 'local time');
  assert.throws(() => parseUntil('2020-01-01', NOW), /in the past/);
  assert.throws(() => parseUntil('later', NOW), /is not understood/);
});

words('intervals in several ways', () => {
  for (const [text, interval] of [
    ['daily', 'daily'],
    ['Every 15 minutes', '15_minute'],
    ['60m', 'hourly'],
    ['24h', 'daily'],
    ['12-hour', '12_hour'],
    ['1w', 'weekly'],
    ['month', 'monthly'],
  ] as const) {
    assert.is(intervalOf(text), interval, text);
  }
  for (const text of ['7m', '5h', '', 'yearly']) assert.throws(() => intervalOf(text), /is not an interval/);
});

words('the most alike is what was meant', () => {
  const known = ['nightly-backup', 'weekly-backup', 'mail queue', 'x'];
  assert.equal(similar('nihgtly-backup', known), ['nightly-backup']);
  assert.equal(similar('backup', known), ['nightly-backup', 'weekly-backup']);
  assert.equal(similar('something else', known), []);
});

words('times relative to now, in at most two units', () => {
  assert.is(relativeTime(new Date(NOW - 90_000).toISOString(), NOW), '1m 30s ago');
  assert.is(relativeTime(new Date(NOW + 26 * 3_600_000).toISOString(), NOW), 'in 1d 2h');
  assert.is(relativeTime(new Date(NOW).toISOString(), NOW), 'just now');
  assert.is(shortDuration(12 * 3_600_000 + 60_000), '12h');
});

words('settings files: flat names and values, and no guessing at the rest', () => {
  const text = `# comment\nurl: http://127.0.0.1:1 # here\napi_key: "a\\tb"\nadmin_key: 'it''s'\nempty:\n`;
  assert.equal(parsePlainYaml(text), { url: 'http://127.0.0.1:1', api_key: 'a\tb', admin_key: "it's" });
  for (const bad of ['url', 'a: [1]', 'a: {b: 1}', '  a: 1', 'a: "x', 'a: *b', 'A B: 1']) {
    assert.throws(() => parsePlainYaml(`ok: 1\n${bad}`), /line 2/);
  }
});

words.run();
