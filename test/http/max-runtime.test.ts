/** `max_runtime` and why a snitch is as it is, over HTTP (`extensions: What a run must look like`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireImportCheck, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { invalid, invalidOn, ok } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const HOUR = 3_600_000;

const test = suite<Fixture>('the longest time of a run');
test.before.each(hooks.start);
test.after.each(hooks.close);

const WRONG = {
  attribute: 'max_runtime',
  message: 'must be a whole number of seconds from 1 to 2678400, which is 31 days',
};

test('it may be set, changed and dropped, and other changes leave it', async ({ acme }) => {
  const snitch = await newSnitch(acme, { max_runtime: 7_200 });
  assert.is(snitch.max_runtime, 7_200);
  const patch = async (body: object) => ok<WireSnitch>(await acme.write.patch(snitch.href, body)).max_runtime;
  assert.is(await patch({ notes: 'n' }), 7_200);
  assert.is(await patch({ interval: 'daily' }), 7_200);
  assert.is(await patch({ max_runtime: 1 }), 1);
  assert.is(await patch({ max_runtime: 2_678_400 }), 2_678_400);
  assert.is(await patch({ max_runtime: null }), null);
  assert.is((await snitchNow(acme, snitch.token)).max_runtime, null);
});

test('what is no such time is refused in words, and changes nothing', async ({ acme }) => {
  const snitch = await newSnitch(acme, { max_runtime: 60 });
  for (const max_runtime of [0, -1, 1.5, 2_678_401, '7200', '2h', true, [], {}, 1e300]) {
    invalid(await acme.write.patch(snitch.href, { max_runtime, notes: 'changed' }), WRONG);
    invalid(await acme.write.post('/v1/snitches', { name: 'x', interval: 'daily', max_runtime }), WRONG);
  }
  const { notes, max_runtime } = await snitchNow(acme, snitch.token);
  assert.equal([notes, max_runtime], ['', 60]);
  // Each wrong attribute gets its own entry.
  const many = { name: 'x', interval: 'never', grace: -1, max_runtime: 0 };
  invalidOn(await acme.write.post('/v1/snitches', many), 'interval', 'grace', 'max_runtime');
});

test('an import brings it along', async ({ acme }) => {
  const body = { snitches: [{ name: 'a', interval: 'daily', max_runtime: 90 }] };
  const checked = ok<WireImportCheck>(await acme.write.post('/v1/imports/check', body));
  assert.is(checked.snitches[0]?.max_runtime, 90);
  const [made] = ok<WireSnitch[]>(await acme.write.post('/v1/imports', body));
  assert.is(made?.max_runtime, 90);
  const changes = { snitches: [{ token: made?.token, max_runtime: 120 }] };
  assert.is(ok<WireSnitch[]>(await acme.write.patch('/v1/imports', changes))[0]?.max_runtime, 120);
  const wrong = { snitches: [{ name: 'a', interval: 'daily', max_runtime: 0 }] };
  const { problems } = ok<WireImportCheck>(await acme.write.post('/v1/imports/check', wrong));
  assert.equal(problems, [{ ...WRONG, attribute: 'snitches[0].max_runtime' }]);
});

test('a run that goes on is told, and so is why the snitch failed', async (context) => {
  const { acme, clock, store } = context;
  const snitch = await newSnitch(acme, { interval: 'daily', max_runtime: 7_200 });
  const explain = async () => ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`));
  for (let day = 0; day < 5; day += 1) {
    await checkIn(context, `${snitch.token}/start`, `?rid=${day}`);
    clock.now += HOUR / 5;
    await checkIn(context, snitch.token, `?rid=${day}`);
    clock.now += HOUR;
  }
  const startedAt = clock.now;
  await checkIn(context, `${snitch.token}/start`, '?rid=hangs');
  const going = await explain();
  const iso = (at: number) => new Date(at).toISOString();
  assert.equal(going.runs, {
    open: [{ started_at: iso(startedAt), overruns_at: iso(startedAt + 2 * HOUR) }],
    usual_ms: HOUR / 5,
  });
  assert.match(
    going.reasons.join(' '),
    /A run that started at .+ is going on: it may take 2 h, and overruns at .+\./,
  );
  assert.match(going.reasons.join(' '), 'Its runs usually take 12 min.');
  assert.equal([going.reason, going.next_alert?.at], [null, iso(startedAt + 2 * HOUR)]);
  clock.now += 2 * HOUR;
  await store.applyDue(clock.now, null, 100);
  const over = await explain();
  assert.match(over.reason ?? '', /^a run that started at 20\d\d-.+ has not ended$/);
  assert.ok(over.reasons.includes(`Why: ${over.reason}.`));
  assert.is((await snitchNow(acme, snitch.token)).reason, over.reason);
  const [alert] = ok<WireAlert[]>(await acme.read.get('/v1/alerts'));
  assert.equal([alert?.type, alert?.reason], ['snitch.missing', over.reason]);
  clock.now += 1;
  await checkIn(context, snitch.token, '?rid=hangs');
  const ended = await explain();
  assert.equal([ended.reason, ended.runs?.open], [null, []]);
  const [recovered] = ok<WireAlert[]>(await acme.read.get('/v1/alerts'));
  assert.is(recovered?.reason, 'a run ended well after 2 h');
});

test('a start is told as well where nobody watches how long runs take', async (context) => {
  const snitch = await newSnitch(context.acme);
  assert.is((await context.acme.write.get(`/c/${snitch.token}/start`)).status, 200);
  const { runs, reasons } = ok<WireExplanation>(await context.acme.read.get(`${snitch.href}/explain`));
  assert.equal([runs?.open.length, runs?.open[0]?.overruns_at, runs?.usual_ms], [1, null, null]);
  assert.match(reasons.join(' '), /A run that started at .+ has not ended\./);
});

test.run();
