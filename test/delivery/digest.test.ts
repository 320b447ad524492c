import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SnitchAlert } from '../../src/delivery/messages/alert-words.ts';
import { digestEntry } from '../../src/delivery/messages/digest-entry.ts';
import { digestMessage, messageId } from '../../src/delivery/messages/email-message.ts';
import { AT, anAlert } from './alerts.ts';

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };

const digestOf = (alerts: Parameters<typeof digestEntry>[0][]) =>
  digestMessage(
    { entries: alerts.map((alert, index) => digestEntry(alert, index)), case: CASE },
    'ann@example.com',
    'example.com',
  );

/** An alert about a new snitch, unless a token is given. */
let snitches = 0;
function alertOf(changes: Parameters<typeof anAlert>[0] = {}): SnitchAlert {
  snitches += 1;
  const token = `token_${snitches}`;
  return anAlert({ id: `a${snitches}`, ...changes, snitch: { token, ...changes?.snitch } }) as SnitchAlert;
}

const LATER = AT + 2 * 3_600_000;

test('subject and body separate new from repeated alarms, and errors from recoveries', async () => {
  const { subject, text, html, date } = await digestOf([
    alertOf({ snitch: { name: 'web-10' } }),
    alertOf({ snitch: { name: 'web-9', tags: ['eu', 'prod'] } }),
    alertOf({
      snitch: { name: 'old-job', previous_status: 'missing' },
      details: { missingSince: AT - 7_200_000 },
    }),
    alertOf({
      type: 'snitch.errored',
      snitch: { name: 'copy' },
      details: { exitStatus: 3, message: 'disk full' },
    }),
    alertOf({ type: 'snitch.reporting', snitch: { name: 'mail', previous_status: 'errored' } }),
    alertOf({ type: 'snitch.reporting', snitch: { name: 'fresh', previous_status: 'pending' } }),
    alertOf({ at: LATER, snitch: { name: 'api' }, details: { lastCheckInAt: null, startedAt: AT } }),
    alertOf({ type: 'snitch.paused', snitch: { name: 'old\u202e' }, details: { pausedUntil: 'unpaused' } }),
  ]);
  assert.is(
    subject,
    '[Digest] 8 alerts of Operations: 3 newly missing, 1 still missing, 1 with errors, 1 reporting again, ' +
      '1 reporting for the first time, 1 paused',
  );
  const order = [
    'Newly missing (3)',
    'api, missing since 2026-11-21 08:04, a run that started at 2026-11-21 06:04 has not ended',
    'web-9 [eu, prod], missing since 2026-11-21 06:04, last check-in 2026-11-20 03:04',
    'web-10, missing',
    'Still missing (1)',
    'old-job, still missing since 2026-11-21 04:04',
    'With errors (1)',
    'copy, exit status 3 at 2026-11-21 06:04: disk full',
    'Reporting again (1)',
    'mail, checked in again at 2026-11-21 06:04',
    'Reporting for the first time (1)',
    'fresh, reporting for the first time at 2026-11-21 06:04',
    'Paused (1)',
    'old\\u202e, was paused at 2026-11-21 06:04, until somebody unpauses it',
  ];
  for (const part of [text, html]) {
    const places = order.map((item) => part.indexOf(item));
    assert.ok(
      places.every((place) => place > 0),
      `${places} ${part}`,
    );
    assert.equal(
      places,
      [...places].sort((a, b) => a - b),
    );
  }
  assert.match(text, 'Times are in Europe/Berlin.');
  assert.not.match(text, 'the last of', 'one alert is not counted');
  assert.is(date.getTime(), LATER);
});

test('the last state is that of the latest alert, in whatever order they come', async () => {
  const about = { token: 'one', name: 'web' };
  const alerts = [
    alertOf({ at: LATER, type: 'snitch.reporting', snitch: { ...about, previous_status: 'missing' } }),
    alertOf({ at: AT, snitch: about }),
  ];
  const { subject } = await digestOf([...alerts, alertOf({ at: LATER + 1, snitch: { name: 'other' } })]);
  assert.is(subject, '[Digest] 3 alerts of Operations: 1 newly missing, 1 reporting again');
});

/** The names in the order of the list. */
const namesIn = (text: string) => [...text.matchAll(/^ {2}- (\S+), /gm)].map(([, name]) => name);

test('the latest alert counts, in whatever order they were claimed; at the same instant the later entry', async () => {
  const snitch = { token: 'c2354d53d3', name: 'nightly' };
  const errored = (at: number, message: string) =>
    anAlert({ type: 'snitch.errored', at, snitch, details: { message } });
  const alerts = [
    errored(AT, 'first'),
    errored(AT + 60_000, 'second'),
    errored(AT + 60_000, 'third'),
    errored(AT + 60_000, 'last'),
  ];
  const entries = alerts.map((alert, index) => digestEntry(alert as SnitchAlert, index));
  for (const order of [entries, entries.toReversed(), [2, 0, 3, 1].map((index) => entries[index]!)]) {
    const { text } = await digestMessage({ entries: order, case: CASE }, 'ann@example.com', 'example.com');
    assert.match(text, ': last');
  }
});

test('names are in natural order, and those of a long list by their characters', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `job-${500 - index}`);
  const few = names.map((name) => alertOf({ snitch: { name } }));
  assert.equal(namesIn((await digestOf(few)).text), names.toReversed());
  const many = [...few, alertOf({ snitch: { name: 'job-0' } })];
  assert.equal(namesIn((await digestOf(many)).text), ['job-0', ...names].sort());
});

test('snitches of one name are in the order in which it happened', async () => {
  const at = (hours: number) => AT + hours * 3_600_000;
  const same = [3, 1, 2].map((hours) => alertOf({ at: at(hours), snitch: { name: 'job' } }));
  // The first to change, which changed again last.
  for (const hours of [0, 4]) same.push(alertOf({ at: at(hours), snitch: { name: 'job', token: 'again' } }));
  const rest = Array.from({ length: 500 }, (_, index) => alertOf({ snitch: { name: `other-${index}` } }));
  for (const alerts of [same, [...same, ...rest]]) {
    const shown = [...(await digestOf(alerts)).text.matchAll(/^ {2}- job, missing since (\S+ \S+),/gm)];
    assert.equal(
      shown.map(([, since]) => since),
      ['07:04', '08:04', '09:04', '10:04'].map((time) => `2026-11-21 ${time}`),
    );
  }
});

test('a snitch has one line, in its last state, however many alerts of it wait', async () => {
  const token = 'token_flip';
  const flips = Array.from({ length: 6 }, (_, index) =>
    alertOf({
      at: AT + index * 60_000,
      type: index % 2 === 0 ? 'snitch.errored' : 'snitch.reporting',
      snitch: { token, name: 'flip', previous_status: index % 2 === 0 ? 'healthy' : 'errored' },
    }),
  );
  const { subject, text } = await digestOf([...flips].reverse());
  assert.is(subject, '[Digest] 6 alerts of Operations: 1 reporting again');
  assert.equal(text.match(/flip/g)?.length, 1);
  assert.match(text, 'flip, checked in again at 2026-11-21 06:09 (the last of 6 alerts)');
});

test('two alerts of a snitch are counted', async () => {
  const twice = [1, 2].map((hours) =>
    alertOf({ at: AT + hours * 3_600_000, type: 'snitch.errored', snitch: { token: 'twice', name: 'job' } }),
  );
  assert.match((await digestOf(twice)).text, 'job, error at 2026-11-21 08:04 (the last of 2 alerts)');
});

test('a missed deadline whose first alarm is in the digest is new, however often it was repeated since', async () => {
  const token = 'token_silent';
  const silent = (at: number, previous_status: 'healthy' | 'missing') =>
    alertOf({ at, snitch: { token, name: 'silent', previous_status }, details: { missingSince: AT } });
  const { subject, text } = await digestOf([
    silent(AT, 'healthy'),
    ...[1, 2, 3, 4, 5].map((hours) => silent(AT + hours * 3_600_000, 'missing')),
  ]);
  assert.is(subject, '[Digest] 6 alerts of Operations: 1 newly missing');
  assert.match(text, 'silent, missing since 2026-11-21 06:04');
});

test('200 alerts with hostile names: a line for each, and nothing breaks out of its line', async () => {
  const name = (index: number) => `job-${index}\r\n- <b>& \u202e\u0007`;
  const alerts = Array.from({ length: 200 }, (_, index) =>
    alertOf({
      type: 'snitch.errored',
      snitch: { name: name(index), tags: ['x\ny'] },
      details: { exitStatus: 1, message: `no\nroom ${'m'.repeat(500)}` },
    }),
  );
  const { text, html } = await digestOf(alerts);
  assert.is(text.match(/^ {2}- job-\d+\\r\\n- <b>& \\u202e\\u0007 \[x\\ny\], exit status 1 /gm)?.length, 200);
  assert.not.match(text, / more$/m);
  assert.is(html.match(/<li>job-/g)?.length, 200);
  assert.not.match(html, '<b>');
});

test('the body is bounded: the rest is counted', async () => {
  const alerts = Array.from({ length: 5_000 }, (_, index) =>
    alertOf({
      snitch: { name: `${index} ${'n'.repeat(240)}`, tags: ['t'.repeat(100), 'u'.repeat(100)] },
    }),
  );
  const { subject, text, html, references } = await digestOf(alerts);
  assert.match(subject, '5000 alerts of Operations: 5000 newly missing');
  const left = Number(/and (\d+) more/.exec(text)?.[1]);
  assert.is(left + (text.match(/^ {2}- \d/gm)?.length ?? 0), 5_000);
  assert.ok(text.length < 100_000 && html.length < 100_000);
  assert.ok(references.length <= 50);
});

test('many alerts of one kind hide no other kind, and the newly missing get the most room', async () => {
  const many = (count: number, changes: Parameters<typeof alertOf>[0]) =>
    Array.from({ length: count }, (_, index) =>
      alertOf({ ...changes, snitch: { ...changes?.snitch, name: `${index} ${'n'.repeat(240)}` } }),
    );
  const { text } = await digestOf([
    ...many(400, {}),
    ...many(400, { type: 'snitch.errored' }),
    ...many(2, { type: 'snitch.paused', snitch: { status: 'paused' } }),
  ]);
  const [, missing = '', errored = '', paused = ''] = text.split(
    /^(?:Newly missing|With errors|Paused) \(\d+\)$/m,
  );
  const shown = [missing, errored, paused].map((list) => list.match(/^ {2}- \d+ n/gm)?.length ?? 0);
  assert.ok((shown[0] ?? 0) > (shown[1] ?? 0) && (shown[1] ?? 0) > 20, String(shown));
  assert.is(shown[2], 2);
  assert.match(missing, `and ${400 - (shown[0] ?? 0)} more`);
  assert.match(errored, `and ${400 - (shown[1] ?? 0)} more`);
  assert.not.match(paused, /and \d+ more/);
});

test('other work gets its turn while a long digest is composed', async () => {
  const alerts = Array.from({ length: 10_000 }, (_, index) => alertOf({ snitch: { name: `job ${index}` } }));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    assert.match((await digestOf(alerts)).text, 'job 0, missing since');
  } finally {
    isOver = true;
  }
  assert.ok(turns >= 5, `${turns} turns`);
});

test('the message id does not depend on the order, and a digest of recoveries replies to the one of alarms', async () => {
  const alarms = Array.from({ length: 8 }, (_, index) => alertOf({ id: `alarm_${index}` }));
  const recoveries = alarms.map(({ id }) =>
    alertOf({ id: `recovery_${id}`, type: 'snitch.reporting', details: { threadId: id } }),
  );
  const first = await digestOf(alarms);
  assert.is((await digestOf([...alarms].reverse())).messageId, first.messageId);
  assert.is.not((await digestOf(alarms.slice(1))).messageId, first.messageId);
  assert.equal((await digestOf(recoveries)).references, first.references);
  assert.ok(first.references.includes(messageId('alarm_3', 'ann@example.com', 'example.com')));
});

test.run();
