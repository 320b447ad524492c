/** What mails say beyond the payload, from the check-in to the mailbox. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckIn } from '../../src/core/check-in.ts';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';

const HOUR = 3_600_000;

interface Context {
  outbox: Outbox;
  mail: MailServer;
  token: string;
}

const test = suite<Context>('circumstances in mails');

test.before.each(async (context) => {
  context.outbox = await Outbox.open({ members: ['ann@example.com'] });
  context.mail = await startMailServer();
  const { outbox } = context;
  await outbox.store.updateCase(outbox.owner.id, { reminders: 'hourly' }, outbox.clock());
  while (await outbox.store.rescheduleSlice(outbox.clock()));
  const fields = { name: 'nightly', notes: '', tags: [], alertEmail: [], interval: '30_minute' } as const;
  const snitch = await outbox.store.createSnitch(
    outbox.owner.id,
    { ...fields, tags: [], alertEmail: [], alertType: 'basic' },
    outbox.clock(),
  );
  context.token = snitch.token;
});

test.after.each(async ({ outbox, mail }) => {
  await outbox.dispose();
  await mail.close();
});

/** Sends what waits. @returns the subject and text of the newest mail */
async function newest({ outbox, mail }: Context): Promise<{ subject: string; text: string }> {
  const before = mail.received.length;
  const deliverer = outbox.deliverer({
    smtp: { url: mail.url, from: 'snitch@example.org' },
    limits: { email: { groupWait: 1 } },
  });
  await until(async () => (await outbox.deliveries('pending')).length === 0, 'all is delivered');
  await deliverer.stop();
  assert.ok(mail.received.length > before);
  const parsed = mail.received.at(-1)?.parsed;
  return { subject: parsed?.subject ?? '', text: parsed?.text ?? '' };
}

async function report({ outbox, token }: Context, changes: Partial<CheckIn>): Promise<void> {
  const now = outbox.clock();
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  await outbox.store.applyCheckIn({ token, now, at: now, outcome: 'healthy', ...nothing, ...changes });
}

test('a mail says why, even if the run ended well in the end', async (context) => {
  await report(context, { exitStatus: 3, outcome: 'error' });
  assert.match((await newest(context)).text, /^Why: +exit status 3$/m);
  await report(context, { outcome: 'start' });
  context.outbox.offset += 90_000;
  await report(context, {});
  assert.match((await newest(context)).text, /^Why: +a run ended well after 1 min 3\d s$/m);
  await sweepAfter(context, HOUR);
  assert.match(
    (await newest(context)).text,
    /^Why: +no check-in by 20\d\d-\d\d-\d\d \d\d:\d\d \(Europe\/Berlin\)$/m,
  );
});

async function sweepAfter({ outbox }: Context, length: number): Promise<void> {
  outbox.offset += length;
  assert.is((await outbox.store.applyDue(outbox.clock(), null, 100)).changed, 1);
}

test('the mail about an error contains what the job printed', async (context) => {
  await report(context, { outcome: 'error', exitStatus: 28, output: 'copying\nno space left on device\n' });
  const { subject, text } = await newest(context);
  assert.match(subject, '[Error] nightly reported exit status 28 at ');
  assert.match(text, 'The job printed:\n\n  copying\n  no space left on device\n');
});

test('a reminder says that it is still missing and since when, and names no deadline', async (context) => {
  await report(context, {});
  await sweepAfter(context, 2 * HOUR);
  const first = await newest(context);
  const deadline = /Deadline: +(\S+ \S+) /.exec(first.text)?.[1];
  assert.ok(deadline, first.text);
  for (let times = 0; times < 2; times += 1) {
    await sweepAfter(context, 2 * HOUR);
    const { subject, text } = await newest(context);
    assert.match(
      subject,
      `[Missing] nightly is still missing, since ${deadline.slice(0, 16)} (Europe/Berlin)`,
    );
    assert.match(text, new RegExp(`Missing since: +${deadline} `));
    assert.not.match(text, 'Deadline');
  }
});

test('mails distinguish a run that hangs from one that never began', async (context) => {
  await report(context, {});
  await report(context, { outcome: 'start' });
  for (let times = 0; times < 60; times += 1) await report(context, { outcome: 'log' });
  await sweepAfter(context, 2 * HOUR);
  const hung = await newest(context);
  assert.match(hung.subject, /^\[Missing\] nightly started at \S+ \S+ \(Europe\/Berlin\) and has not ended$/);
  assert.match(hung.text, /Run started: +\S+ .*its end was not reported/);
  await sweepAfter(context, 2 * HOUR);
  assert.match(
    (await newest(context)).subject,
    /^\[Missing\] nightly is still missing, since .*: a run that started at .* has not ended$/,
  );
  await report(context, {});
  await sweepAfter(context, 2 * HOUR);
  assert.match((await newest(context)).subject, '[Missing] nightly did not check in since ');
});

test('a check-in that was reported late says when it ran and when it was reported', async (context) => {
  await report(context, {});
  await sweepAfter(context, 2 * HOUR);
  await report(context, { at: context.outbox.clock() - 10 * 60_000 });
  const { subject, text } = await newest(context);
  assert.match(subject, /^\[Recovered\] nightly checked in again at (.*), reported only at (?!\1)/);
  assert.match(text, /Ran at: +.* 10 min before this alert\nReported at: +\S/);
});

test('the mail about a pause says until when', async (context) => {
  const { outbox, token } = context;
  await report(context, {});
  await outbox.store.pauseSnitch(outbox.owner.id, token, { kind: 'healthy' }, outbox.clock());
  const { subject, text } = await newest(context);
  assert.match(subject, ', until its next healthy check-in');
  assert.match(text, /Paused until: +its next healthy check-in/);
});

test('a notice about a blind window is a separate mail next to a digest', async (context) => {
  const { outbox, mail } = context;
  await report(context, {});
  const now = outbox.clock();
  await outbox.store.openBlindWindow({ start: now - HOUR, end: now + HOUR });
  while (await outbox.store.postponeSlice(now + HOUR));
  outbox.offset += HOUR;
  await outbox.raise(7);
  await newest(context);
  const subjects = mail.received.map(({ parsed }) => parsed.subject ?? '');
  assert.is(subjects.filter((subject) => subject.startsWith('[Blind] ')).length, 1);
  assert.is(subjects.filter((subject) => subject.startsWith('[Digest] ')).length, 1);
  assert.not.match(mail.received.map(({ parsed }) => parsed.text).join('\n'), 'told 20');
});

test.run();
