import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TEST_TOKEN } from '../../src/core/alert.ts';
import { INTERVALS } from '../../src/core/interval.ts';
import { alertMessage, messageId } from '../../src/delivery/messages/email-message.ts';
import { intervalInWords } from '../../src/delivery/messages/interval-words.ts';
import { AT, aNotice, anAlert } from './alerts.ts';

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };
const HOUR = 3_600_000;

const subjectOf = (alert: Parameters<typeof alertMessage>[0]) =>
  alertMessage(alert, CASE, 'ann@example.com', 'example.com').subject;

test('the subject says in words what happened', () => {
  assert.is(
    subjectOf(anAlert()),
    '[Missing] nightly-backup did not check in since 2026-11-20 03:04 (Europe/Berlin)',
  );
  assert.is(
    subjectOf(anAlert({ snitch: { previous_status: 'missing' }, details: { missingSince: AT - HOUR } })),
    '[Missing] nightly-backup is still missing, since 2026-11-21 05:04 (Europe/Berlin)',
  );
  assert.is(
    subjectOf(anAlert({ snitch: { previous_status: 'missing' } })),
    '[Missing] nightly-backup is still missing: no check-in since 2026-11-20 03:04 (Europe/Berlin)',
  );
  assert.is(
    subjectOf(anAlert({ details: { startedAt: AT - 2 * HOUR } })),
    '[Missing] nightly-backup started at 2026-11-21 04:04 (Europe/Berlin) and has not ended',
  );
  const now = '2026-11-21 06:04 (Europe/Berlin)';
  const errored = { status: 'errored' } as const;
  assert.is(
    subjectOf(anAlert({ type: 'snitch.errored', snitch: errored, details: { exitStatus: 2 } })),
    `[Error] nightly-backup reported exit status 2 at ${now}`,
  );
  assert.is(
    subjectOf(anAlert({ type: 'snitch.errored', snitch: errored })),
    `[Error] nightly-backup reported an error at ${now}`,
  );
  assert.is(
    subjectOf(anAlert({ type: 'snitch.errored', snitch: errored, details: { exitStatus: 0 } })),
    `[Error] nightly-backup reported an error at ${now}`,
    'as by /fail?s=0',
  );
  const judged = { reason: { kind: 'judged', what: 'too short: 2 s of at least 5 min' } } as const;
  for (const exitStatus of [null, 0]) {
    assert.is(
      subjectOf(anAlert({ type: 'snitch.errored', snitch: errored, details: { ...judged, exitStatus } })),
      `[Error] nightly-backup had a run that counts as an error, at ${now}`,
    );
  }
  const reporting = (previous_status: 'missing' | 'errored' | 'pending' | 'paused') =>
    subjectOf(anAlert({ type: 'snitch.reporting', snitch: { status: 'healthy', previous_status } }));
  assert.is(reporting('missing'), `[Recovered] nightly-backup checked in again at ${now}`);
  assert.is(reporting('errored'), `[Recovered] nightly-backup checked in again at ${now}`);
  assert.is(reporting('paused'), `[Reporting] nightly-backup checked in again at ${now}`);
  const late = { type: 'snitch.reporting', snitch: { previous_status: 'missing' } } as const;
  assert.is(
    subjectOf(anAlert({ ...late, details: { ranAt: AT - 3 * HOUR } })),
    '[Recovered] nightly-backup checked in again at 2026-11-21 03:04 (Europe/Berlin), reported only at 2026-11-21 06:04 (Europe/Berlin)',
  );
  const kept = { type: 'snitch.errored', snitch: { status: 'errored', previous_status: 'healthy' } } as const;
  assert.is(
    subjectOf(anAlert({ ...kept, details: { exitStatus: 3, silencedSince: AT - 3 * HOUR } })),
    '[Error] nightly-backup reported exit status 3 at 2026-11-21 03:04 (Europe/Berlin), kept back by a silence until 2026-11-21 06:04 (Europe/Berlin)',
  );
  assert.is(reporting('pending'), `[Reporting] nightly-backup checked in for the first time at ${now}`);
  const paused = { type: 'snitch.paused', snitch: { status: 'paused' } } as const;
  assert.is(
    subjectOf(anAlert({ ...paused, details: { nextDueAt: null } })),
    `[Paused] nightly-backup was paused at ${now}`,
  );
  assert.is(
    subjectOf(anAlert({ ...paused, details: { nextDueAt: null, pausedUntil: 'healthy' } })),
    `[Paused] nightly-backup was paused at ${now}, until its next healthy check-in`,
  );
  assert.is(
    subjectOf(anAlert({ ...paused, details: { nextDueAt: null, pausedUntil: 'unpaused' } })),
    `[Paused] nightly-backup was paused at ${now}, until somebody unpauses it`,
  );
  assert.is(
    subjectOf(anAlert({ ...paused, details: { nextDueAt: AT + 24 * HOUR } })),
    '[Paused] nightly-backup is paused until 2026-11-22 06:04 (Europe/Berlin)',
  );
});

test('about a run that took too long the mail says when it should have ended', () => {
  const schedule = { rule: { cron: '50 5 * * 1-5' }, timezone: 'Europe/Berlin' };
  const startedAt = AT - 2 * HOUR;
  const reason = { kind: 'overran', startedAt } as const;
  const missing = anAlert({ details: { deadlineAt: AT, startedAt, reason, schedule, grace: HOUR } });
  const { subject, text } = alertMessage(missing, CASE, 'ann@example.com', 'example.com');
  assert.is(
    subject,
    '[Missing] nightly-backup started at 2026-11-21 04:04 (Europe/Berlin) and has not ended',
  );
  assert.match(text, /Why: +a run that started at 2026-11-21 04:04 \(Europe\/Berlin\) has not ended/);
  assert.match(text, /Should have ended by: +2026-11-21 06:04:03 /);
  assert.not.match(text, 'Expected at');
});

test('about a snitch with a schedule the mail says the schedule and the time of the run', () => {
  const schedule = { rule: { cron: '50 5 * * 1-5' }, timezone: 'Europe/Berlin' };
  const missing = anAlert({ details: { deadlineAt: AT, schedule, grace: HOUR } });
  const { text } = alertMessage(missing, CASE, 'ann@example.com', 'example.com');
  assert.match(text, /Schedule: +cron 50 5 \* \* 1-5 \(Europe\/Berlin\)/);
  assert.match(text, /Grace: +1 h/);
  assert.match(text, /Expected at: +2026-11-21 05:04:03 /);
  assert.match(text, /Deadline: +2026-11-21 06:04:03 /);
  assert.not.match(text, 'Interval');
  const lenient = anAlert({ details: { grace: 6 * HOUR } });
  const { text: other } = alertMessage(lenient, CASE, 'ann@example.com', 'example.com');
  assert.match(other, /Interval: +every day/);
  assert.match(other, /Grace: +6 h/);
  assert.not.match(other, 'Expected at');
  const every = { rule: { every: 5_400 }, timezone: 'UTC' };
  const counted = alertMessage(
    anAlert({ details: { schedule: every } }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.match(counted.text, /Schedule: +every 1 h 30 min after its last check-in/);
});

test('both parts contain everything that the reader needs to know', () => {
  const alert = anAlert({
    type: 'snitch.errored',
    snitch: {
      status: 'errored',
      notes: 'Runs on db1.\nSee <wiki> & call Bob',
      tags: ['db', 'prod & "more"'],
    },
    details: {
      message: 'disk full\n\u001b[31mred',
      exitStatus: 28,
      checkedInAt: AT - 26.5 * HOUR,
      lastCheckInAt: AT,
    },
  });
  const { text, html } = alertMessage(alert, CASE, 'ann@example.com', 'example.com');
  for (const part of [
    'nightly-backup reported exit status 28 at 2026-11-21 06:04 (Europe/Berlin).',
    '2026-11-20 03:34:03 (Europe/Berlin, UTC+01:00), 1 day 2 h before this alert',
    'every day',
    'errored (before: healthy)',
    'disk full',
    '\\u001b[31mred',
    'Runs on db1.',
    'Operations',
    'snitch show nightly-backup',
    'snitch history nightly-backup',
  ]) {
    assert.ok(text.includes(part), `text: ${part}`);
    assert.ok(html.includes(part), `html: ${part}`);
  }
  assert.ok(text.includes('See <wiki> & call Bob'));
  assert.ok(html.includes('See &lt;wiki&gt; &amp; call Bob'));
  assert.ok(html.includes('db, prod &amp; &quot;more&quot;'));
  assert.not.match(html, /<wiki>/);
});

test('the mail distinguishes a missing snitch that never checked in from one whose last check-in was an error', () => {
  const never = alertMessage(
    anAlert({ details: { lastCheckInAt: null, checkedInAt: null } }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.is(never.subject, '[Missing] nightly-backup did not check in');
  assert.match(never.text, /Last check-in: +never/);
  const afterError = alertMessage(
    anAlert({ details: { checkedInAt: AT - 72 * HOUR } }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.match(afterError.text, /Last check-in: +2026-11-20 03:04:03 .*1 day 3 h before/);
  assert.match(afterError.text, /Last healthy check-in: +2026-11-18 06:04:03 .*3 days before/);
  assert.match(afterError.text, /Deadline: +2026-11-21 06:04:03 .*at the time of this alert/);
});

test('the mail contains the end of what the job printed, bounded and without control characters', () => {
  const errored = anAlert({
    type: 'snitch.errored',
    snitch: { status: 'errored' },
    details: { exitStatus: 1 },
  });
  const messageWith = (output: string) =>
    alertMessage(errored, CASE, 'ann@example.com', 'example.com', { output });
  const { text, html } = messageWith('copying <a>\n\n\u001b[31mno space left\n');
  assert.match(text, 'The job printed:\n\n  copying <a>\n\n  no space left\n\nTo see more:');
  assert.match(html, 'copying &lt;a&gt;\n\nno space left</pre>');
  const long = messageWith(`${'\u0007'.repeat(9_000)}\nthe reason`);
  assert.match(long.text, '  the reason\n');
  assert.ok(long.text.length < 15_000);
  assert.not.match(messageWith('').text, 'The job printed');
});

test('about a flapping snitch: how often it changed, its status now, and what will be sent', () => {
  const errored = { type: 'snitch.errored', snitch: { status: 'errored' } } as const;
  const messageOf = (phase: 'begun' | 'goes on' | 'over', changes: number) => {
    const flapping = { phase, changes, since: AT - HOUR, changedAt: AT - HOUR / 2 };
    const alert = anAlert({ ...errored, details: { exitStatus: 2, flapping } });
    return alertMessage(alert, CASE, 'ann@example.com', 'example.com');
  };
  const now = 'it reported exit status 2 at 2026-11-21 05:34 (Europe/Berlin)';
  const begun = messageOf('begun', 13);
  assert.is(begun.subject, `[Flapping] nightly-backup changes too often, 13 changes within an hour: ${now}`);
  assert.match(begun.text, 'From now on its changes are counted instead of reported one by one');
  assert.match(
    messageOf('goes on', 60).subject,
    '[Flapping] nightly-backup keeps changing, 60 changes since',
  );
  const over = messageOf('over', 1);
  assert.is(over.subject, `[Error] nightly-backup is quiet after 1 change that was not reported: ${now}`);
  assert.not.match(over.text, 'From now on');
});

test('the command line can be pasted into a shell, whatever the name contains', () => {
  const commandFor = (name: string) =>
    /snitch show (.*)/.exec(
      alertMessage(anAlert({ snitch: { name } }), CASE, 'ann@example.com', 'example.com').text,
    )?.[1];
  assert.is(commandFor('db/backup:daily'), 'db/backup:daily');
  assert.is(commandFor('two words'), `'two words'`);
  assert.is(commandFor(`it's $(rm -rf /) \`x\``), `'it'\\''s $(rm -rf /) \`x\`'`);
  assert.is(commandFor('--force'), 'c2354d53d3');
  assert.is(commandFor('two\nlines'), 'c2354d53d3');
  assert.is(commandFor('Zürich 🚀'), `'Zürich 🚀'`);
});

test('a test alert contains no command for its made-up snitch', () => {
  const alert = anAlert({ snitch: { token: TEST_TOKEN } });
  const { text, html } = alertMessage(alert, CASE, 'ann@example.com', 'example.com');
  for (const part of [text, html]) assert.not.match(part, /snitch (show|history)/);
});

test('no invisible character gets into the subject or the lines', () => {
  const names = [
    'a\r\nBcc: evil@example.com',
    'abc\u202egnp.exe',
    'esc\u001b[2J',
    'nul\u0000',
    'line\u2028sep',
    '\ud800',
  ];
  for (const name of names) {
    const { subject, text, html } = alertMessage(
      anAlert({ snitch: { name, tags: [name], notes: name } }),
      CASE,
      'ann@example.com',
      'example.com',
    );
    assert.not.match(subject, /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    assert.not.match(text, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    assert.not.match(html, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
  }
  assert.ok(subjectOf(anAlert({ snitch: { name: 'x'.repeat(255) } })).includes('x'.repeat(255)));
  assert.ok(subjectOf(anAlert({ snitch: { name: '\u202e'.repeat(255) } })).length < 400);
});

test('a recovery joins the thread of its alarm, separately for each recipient', () => {
  const open = alertMessage(anAlert({ id: 'alert_1' }), CASE, 'ann@example.com', 'example.com');
  const recovery = anAlert({ id: 'alert_2', type: 'snitch.reporting', details: { threadId: 'alert_1' } });
  const forAnn = alertMessage(recovery, CASE, 'Ann@Example.com', 'example.com');
  const forBob = alertMessage(recovery, CASE, 'bob@example.com', 'example.com');
  assert.equal(open.references, []);
  assert.equal(forAnn.references, [open.messageId]);
  assert.not.equal(forBob.references, [open.messageId]);
  assert.is(messageId('alert_1', 'ann@example.com', 'example.com'), open.messageId);
  assert.match(open.messageId, /^<snitch\.[0-9a-f]{40}@example\.com>$/);
});

test('the blind notice names the window and what was postponed', () => {
  const message = alertMessage(
    aNotice({ postponed: ['nightly-backup', 'a\nb'], postponedCount: 150 }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.is(
    message.subject,
    '[Blind] The service received no check-ins for 1 h 29 min from 2026-11-21 04:34 (Europe/Berlin)',
  );
  assert.match(message.text, 'From:   2026-11-21 04:34:03 (Europe/Berlin, UTC+01:00)');
  assert.match(message.text, 'To:     2026-11-21 06:04:02 (Europe/Berlin, UTC+01:00)');
  assert.match(message.text, 'The deadlines of 150 snitches were postponed:');
  assert.match(message.text, /- nightly-backup\n {2}- a\\nb\n {2}- and 148 more\n/);
  const ended = alertMessage(
    aNotice({ postponed: ['once'], snitches: [{ token: 't1', name: 'once', deadlineAt: null }] }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.match(ended.text, '  - once: its schedule has no further run\n');
  const deadlines = [{ token: 't1', name: 'nightly-backup', deadlineAt: AT + 24 * HOUR }];
  const told = alertMessage(
    aNotice({ postponed: ['nightly-backup'], snitches: deadlines }),
    CASE,
    'ann@example.com',
    'example.com',
  );
  assert.match(
    told.text,
    'The deadline of 1 snitch was postponed:\n  - nightly-backup: now due by 2026-11-22 06:04 (Europe/Berlin)\n\n',
  );
  const none = alertMessage(aNotice({ postponed: [] }), CASE, 'ann@example.com', 'example.com');
  assert.match(none.text, 'No snitch was expected to check in during that time.');
  assert.not.match(none.text, 'postponed:');
});

test('every interval has its own words', () => {
  const words = new Set(INTERVALS.map(intervalInWords));
  assert.is(words.size, INTERVALS.length);
  assert.ok(
    ['every minute', 'every 30 minutes', 'every hour', 'every 12 hours', 'every month'].every((w) =>
      words.has(w),
    ),
  );
});

test.run();
