/** A token bucket per key; a key that overdraws it is blocked for a while (`decisions: Rate limit`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import { type Answer, Client } from './client.ts';
import { ok, refused } from './expect.ts';
import { checkIn, newSnitch, startFixture, withFixture } from './fixture.ts';

const test = suite('rate limit');

test('a bucket lets a burst through, fills by the minute, and blocks a key that overdraws it', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 3, blockS: 60 });
  const waits = (...times: number[]) => times.map((now) => limiter.take('a', now));
  assert.equal(waits(0, 0, 0), [0, 0, 0]);
  assert.equal(waits(1_000, 2_000), [0, 0], 'one a second comes in');
  assert.equal(waits(2_500), [60_000], 'half a token is none');
  assert.equal(waits(3_500, 62_499), [59_000, 1], 'blocked, however many tokens came in');
  assert.equal(waits(62_500, 62_500, 62_500), [0, 0, 0], 'then full again, and not fuller than the burst');
  assert.equal(waits(62_500), [60_000]);
  assert.is(limiter.take('b', 62_500), 0, 'each key has its own');
});

test('every answer tells how much is left, so that clients can pace themselves', async () => {
  const limited = await startFixture({ limiter: new RateLimiter({ perMinute: 60, burst: 10, blockS: 60 }) });
  const open = await startFixture();
  try {
    const { headers } = await limited.acme.write.get('/v1/snitches');
    assert.is(headers['ratelimit-policy'], '"key";q=10;w=10');
    assert.is(headers.ratelimit, '"key";r=9;t=1');
    const missing = await limited.acme.write.get('/v1/snitches/none');
    assert.is(missing.headers.ratelimit, '"key";r=8;t=2');
    assert.is((await limited.nobody.get('/v1/snitches')).headers.ratelimit, undefined);
    assert.is((await open.acme.write.get('/v1/snitches')).headers.ratelimit, undefined);
  } finally {
    await limited.close();
    await open.close();
  }
});

test('where several buckets count, the answer tells of the one with the least left', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 10, blockS: 60 });
  for (let count = 0; count < 4; count += 1) limiter.take('key', 0);
  limiter.take('case', 0);
  assert.equal(limiter.standing(['key', 'case'], 0), { burst: 10, fillsInS: 10, left: 6 });
  assert.equal(limiter.standing(['case'], 500), { burst: 10, fillsInS: 10, left: 9 });
  assert.is(new RateLimiter({ perMinute: 0, burst: 1, blockS: 1 }).standing(['key'], 0), null);
});

test('a case has four times what a key has, and is not blocked', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 3, blockS: 60 });
  const waits = (...times: number[]) => times.map((now) => limiter.takeOfCase('team', now));
  assert.equal(
    waits(...Array.from({ length: 12 }, () => 0)),
    Array.from({ length: 12 }, () => 0),
  );
  assert.equal(waits(0), [250]);
  assert.equal(waits(125, 250, 250), [125, 0, 250], 'four a second come in');
  assert.is(limiter.takeOfCase('another', 0), 0);
  limiter.configure({ perMinute: 0, burst: 1, blockS: 60 });
  for (let count = 0; count < 100; count += 1) assert.is(limiter.takeOfCase('team', 0), 0);
});

test('one key, however much it asks for, never meets the limit of its case', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 3, blockS: 10 });
  const ofCase: number[] = [];
  for (let now = 0; now < 600_000; now += 150) {
    if (limiter.take('key', now) === 0) ofCase.push(limiter.takeOfCase('team', now));
  }
  assert.ok(ofCase.length >= 100, `${ofCase.length} calls were let through`);
  assert.ok(ofCase.every((wait) => wait === 0));
});

test('a limit of 0 turns it off, even while the server runs', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 1, blockS: 60 });
  assert.is(limiter.take('a', 0), 0);
  assert.is(limiter.take('a', 0), 60_000);
  limiter.configure({ perMinute: 0, burst: 1, blockS: 60 });
  for (let count = 0; count < 1_000; count += 1) assert.is(limiter.take('a', 0), 0);
});

test('keys are forgotten before they fill the memory', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 1, blockS: 60 });
  for (let key = 0; key < 50_000; key += 1) assert.is(limiter.take(`key ${key}`, 0), 0);
});

test('over it, every call of the key is answered 429 with Retry-After; other keys go on', async () => {
  await withFixture({ limiter: new RateLimiter({ perMinute: 1, burst: 4, blockS: 60 }) }, async (limited) => {
    const { acme, rival } = limited;
    const { token, href } = await newSnitch(acme);
    for (let left = 3; left > 0; left -= 1) ok(await acme.write.get(href));
    for (const path of [href, '/v1/snitches', '/v1/nothing']) {
      for (const method of ['GET', 'POST', 'DELETE', 'PUT']) {
        const answer = await acme.write.ask(method, path);
        refused(answer, 429, 'rate_limited', `${method} ${path}`);
        const seconds = Number(answer.headers['retry-after']);
        assert.ok(Number.isInteger(seconds) && seconds > 0 && seconds <= 60);
      }
    }
    ok(await acme.read.get(href));
    ok(await rival.write.get('/v1/snitches'));
    for (let count = 0; count < 20; count += 1) await checkIn(limited, token);
  });
});

test('many keys of a case are worth a few, and take nothing from other cases', async () => {
  const limited = await startFixture({ limiter: new RateLimiter({ perMinute: 1, burst: 5, blockS: 60 }) });
  try {
    const { acme, rival, store, clock, port } = limited;
    const answers: Answer[] = [];
    for (let count = 0; count < 20; count += 1) {
      const { key } = await store.createApiKey({ caseId: acme.id, name: 'one', scope: 'read' }, clock.now);
      using client = new Client(port, key);
      for (let asked = 0; asked < 5; asked += 1) answers.push(await client.get('/v1/case'));
    }
    assert.equal(
      answers.map(({ status }) => status),
      answers.map((_, index) => (index < 20 ? 200 : 429)),
    );
    const last = answers.at(-1) as Answer;
    refused(last, 429, 'rate_limited');
    assert.match(last.text, 'all API keys of this case');
    assert.ok(Number(last.headers['retry-after']) >= 1 && Number(last.headers['retry-after']) <= 15);
    ok(await rival.read.get('/v1/case'));
  } finally {
    await limited.close();
  }
});

test('refused calls count, and calls with a wrong key do not', async () => {
  await withFixture({ limiter: new RateLimiter({ perMinute: 1, burst: 3, blockS: 60 }) }, async (limited) => {
    const { acme, nobody } = limited;
    for (let count = 0; count < 10; count += 1) refused(await nobody.get('/v1/case'), 401, 'api_key_invalid');
    for (let count = 0; count < 3; count += 1) {
      refused(await acme.write.get('/v1/snitches/unknown'), 404, 'resource_not_found');
    }
    refused(await acme.write.get('/v1/snitches'), 429, 'rate_limited');
  });
});

test('when the block has ended, the key is served again', async () => {
  await withFixture(
    {
      limiter: new RateLimiter({ perMinute: 120, burst: 1, blockS: 0.2 }),
    },
    async (limited) => {
      const { write } = limited.acme;
      const answers = await Promise.all([1, 2, 3, 4].map(() => write.get('/v1/case')));
      const blocked = answers.filter(({ status }) => status === 429);
      assert.ok(blocked.length > 0);
      assert.is(blocked[0]?.headers['retry-after'], '1', 'rounded up to a whole second');
      for (let tries = 0; (await write.get('/v1/case')).status !== 200; tries += 1) {
        assert.ok(tries < 100, 'it stays blocked');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  );
});

test.run();
