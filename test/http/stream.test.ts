/** `/v1/stream` as a client of Server-Sent Events reads it. Also on PostgreSQL. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { informed, open } from './event-stream.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';

const test = suite<Fixture>('the stream of changes');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('it begins with reset, and then tells every change as it commits', async ({ acme, nobody }) => {
  using stream = await open(acme.read);
  assert.is((await stream.next()).event, 'reset');
  const created = await newSnitch(acme);
  const first = await informed(stream);
  assert.equal(
    first.events.map(({ event, data }) => [event, data]),
    [['snitch', created]],
  );
  await nobody.get(`/c/${created.token}`);
  const second = await informed(stream);
  assert.is(second.events[0]?.data.status, 'healthy');
  await acme.write.delete(`/v1/snitches/${created.token}`);
  const third = await informed(stream);
  assert.equal(
    third.events.map(({ event, data }) => [event, data]),
    [['deleted', { token: created.token }]],
  );
});

test('a reader that comes back is told what it missed, and no more', async ({ acme }) => {
  using stream = await open(acme.read);
  await stream.next();
  await newSnitch(acme);
  const { id } = await informed(stream);
  stream.close();
  const missed = await newSnitch(acme);
  using again = await open(acme.read, id);
  const { events } = await informed(again);
  assert.equal(
    events.map(({ data }) => data.token),
    [missed.token],
  );
});

test('an id of another run of the daemon means that everything must be read again', async ({ acme }) => {
  for (const id of ['00000000-0000-0000-0000-000000000000:7', 'nonsense', '']) {
    using stream = await open(acme.read, id);
    assert.is((await stream.next()).event, 'reset');
  }
});

test('the stream of a case has events about its own snitches only', async ({ acme, rival }) => {
  using stream = await open(acme.read);
  await stream.next();
  await newSnitch(rival);
  const own = await newSnitch(acme);
  const { events } = await informed(stream);
  assert.equal(
    events.map(({ data }) => data.token),
    [own.token],
  );
});

test('a reader that comes back hears that a snitch is gone, also if it was moved to another case', async (context) => {
  const { acme, rival } = context;
  using stream = await open(acme.read);
  await stream.next();
  const { token, name, interval } = await newSnitch(acme);
  const { id } = await informed(stream);
  stream.close();
  await acme.write.delete(`/v1/snitches/${token}`);
  ok(await rival.write.post('/v1/imports', { snitches: [{ token, name, interval }] }));
  using again = await open(acme.read, id);
  const { events } = await informed(again);
  assert.equal(
    events.map(({ event, data }) => [event, data]),
    [['deleted', { token }]],
  );
});

test('a reader that comes back learns no token of another case', async ({ acme, rival }) => {
  using stream = await open(acme.read);
  await stream.next();
  await newSnitch(acme);
  const { id } = await informed(stream);
  stream.close();
  await newSnitch(rival);
  const own = await newSnitch(acme);
  using again = await open(acme.read, id);
  const { events } = await informed(again);
  assert.equal(
    events.map(({ event, data }) => [event, data.token]),
    [['snitch', own.token]],
  );
});

test('it ends when the server stops', async (context) => {
  using stream = await open(context.acme.read);
  await stream.next();
  await context.close();
  await stream.ended;
});

test('it needs a key of a case', async ({ nobody, admin }) => {
  assert.is((await nobody.get('/v1/stream')).status, 401);
  assert.is((await admin.get('/v1/stream')).status, 403);
});

test.run();
