/** `/v1/silences`, and what they show of the snitches that they cover. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { WireSilence } from '../../src/api/wire-kept-back.ts';
import { empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, START, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('silences');
test.before.each(hooks.start);
test.after.each(hooks.close);

const iso = (at: number) => new Date(at).toISOString();

test('a silence is made, read, changed and ended', async ({ acme, rival, clock }) => {
  const made = ok<WireSilence>(
    await acme.write.post('/v1/silences', { tags: ['web1'], duration: 1800, note: 'kernel' }),
  );
  assert.equal(made.unknown_tags, ['web1']);
  delete made.unknown_tags;
  assert.match(made.id, /^sil_[a-z2-7]{16}$/);
  const stretch = { from: iso(START), to: iso(START + HOUR / 2) };
  assert.equal(made, {
    id: made.id,
    tags: ['web1'],
    tokens: null,
    all: false,
    ...stretch,
    schedule: null,
    duration: null,
    timezone: null,
    note: 'kernel',
    by: made.by,
    created_at: iso(START),
    active: true,
    current: stretch,
    next: null,
    ended_at: null,
  });
  const keys = ok<{ name: string }[]>(await acme.read.get('/v1/api_keys'));
  assert.ok(keys.some(({ name }) => name === made.by));
  const path = `/v1/silences/${made.id}`;
  assert.equal(ok(await acme.read.get(path)), made);
  assert.equal(ok(await acme.read.get('/v1/silences')), [made]);
  assert.equal(ok(await acme.write.patch(path, made)), made, 'a whole object may come back');
  const longer = ok<WireSilence>(await acme.write.patch(path, { to: iso(START + HOUR) }));
  assert.is(longer.to, iso(START + HOUR));
  for (const one of [rival.read, rival.write]) refused(await one.get(path), 404, 'resource_not_found');
  refused(await rival.write.delete(path), 404, 'resource_not_found');
  refused(await acme.read.post('/v1/silences', { all: true, duration: 60 }), 403, 'api_key_forbidden');
  refused(await acme.read.delete(path), 403, 'api_key_forbidden');
  clock.now += MINUTE;
  empty(await acme.write.delete(path));
  empty(await acme.write.delete(path));
  assert.equal(ok(await acme.read.get('/v1/silences')), []);
  const over = ok<WireSilence>(await acme.read.get(path));
  assert.equal([over.active, over.ended_at], [false, iso(START + MINUTE)]);
  invalidOn(await acme.write.patch(path, { to: iso(START + HOUR) }), 'to');
  refused(await acme.write.delete('/v1/silences/sil_none'), 404, 'resource_not_found');
});

test('times without an offset are read in the time zone that is sent with them', async ({ acme }) => {
  const made = async (body: object) => {
    const { from, to } = ok<WireSilence>(await acme.write.post('/v1/silences', { all: true, ...body }));
    return [from, to];
  };
  const night = { from: '2026-11-19T22:00:00', to: '2026-11-20T06:00' };
  const expected = ['2026-11-19T21:00:00.000Z', '2026-11-20T05:00:00.000Z'];
  assert.equal(await made({ ...night, timezone: 'Europe/Berlin' }), expected);
  assert.equal(await made({ ...night, to: null, duration: 28_800, timezone: 'europe/berlin' }), expected);
  assert.equal(await made({ from: '2026-11-20', to: '2026-11-21', timezone: 'Asia/Kolkata' }), [
    '2026-11-19T18:30:00.000Z',
    '2026-11-20T18:30:00.000Z',
  ]);
  assert.equal(await made({ from: '2027-03-28T02:30', duration: 3_600, timezone: 'Europe/Berlin' }), [
    '2027-03-28T01:30:00.000Z',
    '2027-03-28T02:30:00.000Z',
  ]);
  const utc = ['2026-11-19T22:00:00.000Z', '2026-11-20T06:00:00.000Z'];
  assert.equal(await made(night), utc);
  const named = { from: `${night.from}Z`, to: `${night.to}+00:00` };
  for (const timezone of ['Europe/Berlin', null, '']) assert.equal(await made({ ...named, timezone }), utc);
  invalidOn(
    await acme.write.post('/v1/silences', { all: true, ...night, timezone: 'Mars/Olympus' }),
    'timezone',
  );
});

test('a recurring silence tells when it holds now and next', async ({ acme }) => {
  const body = { all: true, schedule: { cron: '0 10 * * *' }, duration: 3600, timezone: 'UTC' };
  const made = ok<WireSilence>(await acme.write.post('/v1/silences', body));
  assert.equal([made.from, made.to, made.duration, made.active], [null, null, 3600, true]);
  const at = (day: number, hour: number) => iso(Date.UTC(2026, 10, day, hour));
  assert.equal(made.current, { from: iso(START), to: at(18, 11) });
  assert.equal(made.next, { from: at(19, 10), to: at(19, 11) });
});

test('one answer lists all faults, and a token that does not exist is one', async ({ acme, rival }) => {
  const { token } = await newSnitch(rival);
  invalidOn(await acme.write.post('/v1/silences', { from: 'x', note: 7 }), 'tags', 'from', 'to', 'note');
  invalid(await acme.write.post('/v1/silences', { tokens: [token], duration: 60 }), {
    attribute: 'tokens',
    message: `name no snitch: ${token}`,
  });
});

test('a snitch and the list say what silences it, and when it is due behind that', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { tags: ['web1'] });
  const other = await newSnitch(acme, { name: 'other' });
  await checkIn(context, token);
  await checkIn(context, other.token);
  assert.is((await snitchNow(acme, token)).silenced, null);
  const made = ok<WireSilence>(
    await acme.write.post('/v1/silences', { tags: ['web1'], duration: 3 * 3600, note: 'kernel' }),
  );
  const silenced = { id: made.id, until: made.to ?? '', by: made.by, note: 'kernel' };
  const own = await snitchNow(acme, token);
  assert.equal(own.silenced, silenced);
  const behind = iso(Date.UTC(2026, 10, 18, 15));
  assert.is(own.deadline, behind);
  const listed = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
  assert.equal(
    listed.map((snitch) => [snitch.silenced, snitch.deadline]),
    [
      [silenced, behind],
      [null, iso(Date.UTC(2026, 10, 18, 12))],
    ],
  );
  const explanation = ok<WireExplanation>(await acme.read.get(`/v1/snitches/${token}/explain`));
  assert.equal([explanation.silenced, explanation.deadline?.at], [silenced, behind]);
  assert.match(explanation.reasons.join(' '), /silenced until 2026-11-18 13:20:30 \(UTC\) by .+ \(kernel\)/);
  clock.now = Date.parse(made.to ?? '');
  await sweep(context);
  assert.equal(
    await snitchNow(acme, token).then(({ silenced: none, deadline, status }) => [none, deadline, status]),
    [null, behind, 'healthy'],
  );
  assert.is((await snitchNow(acme, other.token)).status, 'failed');
});

/** The deadline of the snitch wherever it is told: `explain`, GET, the list, and the metrics. */
async function deadlinesTold({ acme }: Fixture, token: string): Promise<(string | null | undefined)[]> {
  const path = `/v1/snitches/${token}`;
  const explained = ok<WireExplanation>(await acme.read.get(`${path}/explain`));
  const one = ok<WireSnitch>(await acme.read.get(path));
  const listed = ok<WireSnitch[]>(await acme.read.get('/v1/snitches')).find((each) => each.token === token);
  const { text } = await acme.read.get('/v1/metrics');
  const [, seconds] = /^snitch_deadline_timestamp_seconds\{.*\} (\S+)$/m.exec(text) ?? [];
  return [explained.deadline?.at, one.deadline, listed?.deadline, iso(Number(seconds) * 1_000)];
}

test('a deadline that a silence will move is told as moved, in the silence and afterwards', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { schedule: { cron: '0 11 * * *' }, grace: 3_600 });
  await checkIn(context, token);
  const noon = Date.UTC(2026, 10, 18, 12);
  const tomorrow = noon + 24 * HOUR;
  const four = (at: number) => Array.from({ length: 4 }, () => iso(at));
  const [from, to] = [noon - 50 * MINUTE, noon - 30 * MINUTE];
  ok(await acme.write.post('/v1/silences', { tokens: [token], from: iso(from), to: iso(to) }));
  assert.equal(await deadlinesTold(context, token), four(noon), 'before it');
  clock.now = from + MINUTE;
  assert.equal(await deadlinesTold(context, token), four(tomorrow), 'in it');
  clock.now = to + MINUTE;
  assert.equal(await deadlinesTold(context, token), four(tomorrow), 'after it');
  assert.is((await snitchNow(acme, token)).silenced, null);
  clock.now = noon;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'healthy', 'nothing happens at the old one');
  assert.equal(await deadlinesTold(context, token), four(tomorrow), 'the sweep has moved it');
  clock.now = tomorrow;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
});

test('a deadline at the very beginning of a silence is told as moved once', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  const noon = Date.UTC(2026, 10, 18, 12);
  const silenced = { tokens: [token], from: iso(noon), to: iso(noon + HOUR) };
  ok(await acme.write.post('/v1/silences', silenced));
  for (const at of [noon, noon + HOUR - 1]) {
    clock.now = at;
    await sweep(context);
    const told = await deadlinesTold(context, token);
    assert.equal(
      told,
      Array.from({ length: 4 }, () => iso(noon + HOUR)),
      iso(at),
    );
  }
  clock.now = noon + HOUR;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
});

test('an alarm that is kept back is foretold, and so is the end of that', async (context) => {
  const { acme } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  const made = ok<WireSilence>(await acme.write.post('/v1/silences', { tokens: [token], duration: 3600 }));
  await checkIn(context, token, '?s=3');
  const explanation = ok<WireExplanation>(await acme.read.get(`/v1/snitches/${token}/explain`));
  assert.is(explanation.next_alert?.at, made.to);
  assert.match(explanation.reasons.join(' '), /Its alarm is raised then, unless it is well by then/);
});

async function foreseen(
  { acme }: Fixture,
  token: string,
): Promise<{ at: string | undefined; reasons: string }> {
  const explanation = ok<WireExplanation>(await acme.read.get(`/v1/snitches/${token}/explain`));
  return { at: explanation.next_alert?.at, reasons: explanation.reasons.join('\n') };
}

test('a silence to come that moves the next deadline is told, with when an alarm is raised then', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { schedule: { cron: '0 * * * *' }, grace: 600 });
  await checkIn(context, token);
  const due = Date.UTC(2026, 10, 18, 11, 10);
  assert.is((await foreseen(context, token)).at, iso(due));
  const later = { tokens: [token], from: iso(due + 1), to: iso(due + HOUR), note: 'later' };
  ok(await acme.write.post('/v1/silences', later));
  assert.is((await foreseen(context, token)).at, iso(due), 'it begins behind the alarm');
  const planned = { tokens: [token], from: iso(due - MINUTE), to: iso(due + MINUTE), note: 'kernel' };
  ok(await acme.write.post('/v1/silences', planned));
  const { at, reasons } = await foreseen(context, token);
  assert.is(at, iso(due + 2 * HOUR), 'the run at noon falls into the other one');
  for (const words of [
    'If it does not check in again by 2026-11-18 11:10:00 (UTC), its deadline moves, because a silence is planned.',
    /The silence is planned from 2026-11-18 11:09:00 \(UTC\) to 2026-11-18 11:11:00 \(UTC\) by .+ \(kernel\)\./,
    'Unless it checks in before, its alarm is raised at 2026-11-18 13:10:00 (UTC).',
  ])
    assert.match(reasons, words);
  assert.not.match(reasons, 'the team is told');
  for (clock.now = due; clock.now < due + 2 * HOUR; clock.now += 10 * MINUTE) await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'healthy');
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
});

test('one that covers every run of a job is told: nobody would hear that it is gone', async (context) => {
  const { acme } = context;
  const { token } = await newSnitch(acme, { schedule: { cron: '30 3 * * *' } });
  await checkIn(context, token);
  const nightly = { all: true, schedule: { cron: '0 3 * * *' }, duration: 3_600 };
  const { id } = ok<WireSilence>(await acme.write.post('/v1/silences', nightly));
  const { at, reasons } = await foreseen(context, token);
  assert.is(at, undefined);
  assert.match(reasons, 'Silences to come cover all of its next runs: nobody is told that it is missing.');
  empty(await acme.write.delete(`/v1/silences/${id}`));
  assert.is((await foreseen(context, token)).at, iso(Date.UTC(2026, 10, 19, 3, 45)));
});

test('a reminder that waits for the end of a silence to come is foretold', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { reminders: 'hourly' }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  clock.now = Date.UTC(2026, 10, 18, 12);
  await sweep(context);
  const [from, to] = [clock.now + 50 * MINUTE, clock.now + 90 * MINUTE];
  ok(await acme.write.post('/v1/silences', { all: true, from: iso(from), to: iso(to) }));
  const { at, reasons } = await foreseen(context, token);
  assert.is(at, iso(to));
  assert.match(
    reasons,
    /a reminder comes at 2026-11-18 13:30:00 \(UTC\), after a silence that is planned from 2026-11-18 12:50:00 \(UTC\) to 2026-11-18 13:30:00 \(UTC\) by \S/,
  );
});

test.run();
