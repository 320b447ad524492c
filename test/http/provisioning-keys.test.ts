/** Keys that may check in by name: what opens an address, what does not, and where no key may ever be seen. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import { type Answer, basic } from './client.ts';
import { ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, startFixture, type Team, withFixture } from './fixture.ts';

const test = suite<Fixture>('provisioning keys');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function keyOf({ write }: Team, scope = 'provision'): Promise<string> {
  const made = ok<WireApiKey>(await write.post('/v1/api_keys', { name: 'hosts', scope }));
  assert.is(made.scope, scope);
  return made.key ?? '';
}

const list = async ({ write }: Team) => ok<WireSnitch[]>(await write.get('/v1/snitches'));

const named = async (team: Team, name: string) => (await list(team)).filter((one) => one.name === name);

const log = async ({ write }: Team, { href }: WireSnitch) =>
  ok<WireCheckIn[]>(await write.get(`${href}/check_ins`));

function text(answer: Answer, status: number, about = ''): string {
  assert.is(answer.status, status, `${about} ${answer.text}`);
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8', about);
  assert.is(answer.headers['cache-control'], 'no-store', about);
  assert.is(answer.headers['ping-body-limit'], '10240', about);
  return answer.text;
}

test('only a provisioning key may stand in the address', async ({ acme, admin, nobody }) => {
  const words = [];
  for (const key of [acme.write.key, acme.read.key, admin.key]) {
    const answer = await nobody.get(`/c/${key}/job?create=1&interval=daily`);
    words.push(text(answer, 403));
  }
  assert.equal(
    [...new Set(words)],
    [
      'This needs a key of the scope provision: snitch key create NAME --scope provision. Others do not belong in an address.\n',
    ],
  );
  assert.equal(await list(acme), []);
});

test('with a hyphen in place of the key, the header carries it, and may also carry a write key', async (context) => {
  const { acme, rival, admin, nobody } = context;
  const key = await keyOf(acme);
  const ask = (name: string, authorization: string | null, headers: Record<string, string> = {}) =>
    nobody.ask('POST', `/c/-/${name}?create=1&interval=daily`, {
      headers: { ...headers, ...(authorization === null ? {} : { authorization }) },
    });
  text(await ask('one', basic(key)), 201);
  text(await ask('one', acme.write.key && basic(acme.write.key)), 200);
  text(await ask('two', acme.write.key && basic(acme.write.key)), 201);
  text(await ask('three', acme.read.key && basic(acme.read.key)), 403);
  text(await ask('three', admin.key && basic(admin.key)), 403);
  for (const wrong of [null, 'Basic !!', 'Bearer x', basic('snk_no'), basic('')]) {
    const answer = await ask('three', wrong);
    text(answer, 401, String(wrong));
    assert.is(answer.headers['www-authenticate'], 'Basic realm="snitch"');
  }
  // A browser adds the key that it remembers to whatever a page makes it ask for.
  text(await ask('three', basic(key), { 'sec-fetch-site': 'cross-site' }), 403);
  text(await ask('three', basic(key), { origin: 'https://evil.example.com' }), 403);
  assert.equal(
    (await list(acme)).map(({ name }) => name),
    ['one', 'two'],
  );
  assert.equal(await list(rival), []);
});

test('a provisioning key may do nothing else', async (context) => {
  const { acme, nobody, routes } = context;
  const key = await keyOf(acme);
  const { token } = await newSnitch(acme, { name: 'job' });
  for (const route of [...routes, '/v1/nothing-here']) {
    if (!route.startsWith('/v1/')) continue;
    const path = route.replaceAll(':token', token).replaceAll(/:\w+/g, 'x');
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await nobody.ask(method, path, { headers: { authorization: basic(key) } });
      refused(answer, 403, 'api_key_forbidden', `${method} ${path}`);
    }
  }
  text(await nobody.get(`/c/${key}/job`), 200);
});

test('a name belongs to the case of the key', async ({ acme, rival, nobody }) => {
  const [ours, theirs] = [await keyOf(acme), await keyOf(rival)];
  const mine = await newSnitch(acme, { name: 'job' });
  text(await nobody.get(`/c/${theirs}/job`), 404);
  text(await nobody.get(`/c/${theirs}/job?create=1&interval=daily`), 201);
  text(await nobody.get(`/c/${ours}/job`), 200);
  assert.equal([(await list(acme)).length, (await list(rival)).length], [1, 1]);
  assert.is((await log(acme, mine)).length, 1);
});

test('a key that does not exist, or was deleted, is refused without a word about names', async (context) => {
  const { acme, nobody } = context;
  const { id, key } = ok<WireApiKey>(
    await acme.write.post('/v1/api_keys', { name: 'n', scope: 'provision' }),
  );
  await newSnitch(acme, { name: 'job' });
  text(await nobody.get(`/c/${key}/job`), 200);
  await acme.write.delete(`/v1/api_keys/${id}`);
  const answers = [];
  for (const one of [key, `snk_${'x'.repeat(40)}`]) {
    for (const name of ['job', 'other']) {
      answers.push(text(await nobody.get(`/c/${one}/${name}?create=1&interval=daily`), 401));
    }
  }
  assert.equal([...new Set(answers)], ['The API key is missing or invalid.\n']);
});

test('no token is taken for a key, and no key for a token', async ({ acme, rival, nobody }) => {
  const token = `snk_${'t'.repeat(40)}`;
  const [made] = ok<{ created: WireSnitch[] }>(
    await acme.write.post('/v1/imports', { snitches: [{ token, name: 'moved here', interval: 'daily' }] }),
  ).created ?? [undefined];
  const moved = made ?? (await named(acme, 'moved here'))[0]!;
  assert.is((await nobody.get(`/c/${token}`)).status, 202);
  assert.is((await nobody.get(`/c/${token}/start?m=x`)).status, 200);
  assert.is((await nobody.get(`/c/${token}/7`)).status, 200);
  assert.is((await log(acme, moved)).length, 3);
  assert.is((await nobody.get(`/c/${token}/job?create=1&interval=daily`)).status, 401);
  const key = await keyOf(rival);
  assert.is((await nobody.get(`/c/${key}`)).status, 404);
  assert.is((await nobody.get(`/c/${key}/`)).status, 404);
  assert.is((await nobody.get(`/c/${moved.token}/start?create=1`)).status, 200);
  assert.equal(await list(rival), []);
});

test('a store that refuses is told with 503 and Retry-After, and the key stays out of the log', async () => {
  const refusal = new StoreUnavailable(new Error('disk full'));
  await withFixture(
    { through: (store) => ({ ...store, applyFirstCheckIn: () => Promise.reject(refusal) }) },
    async ({ acme, nobody, logged }) => {
      const key = await keyOf(acme);
      const answer = await nobody.get(`/c/${key}/secret-name?create=1&interval=daily`);
      assert.equal([answer.status, answer.headers['retry-after']], [503, '10']);
      assert.ok(logged.length > 0);
      const written = JSON.stringify([logged, answer]);
      assert.not.match(written, key.slice(4));
    },
  );
});

test('the key is in no log, no metric and no answer, whatever goes wrong', async () => {
  const broken = () => Promise.reject(new Error('broken'));
  for (const method of ['findApiKey', 'findTokenByName'] as const) {
    let isBroken = false;
    const context = await startFixture({
      metricsArePublic: true,
      through: (store) => ({
        ...store,
        [method]: (...values: [string & never]) =>
          isBroken ? broken() : (store[method] as (...all: unknown[]) => Promise<never>)(...values),
      }),
    });
    const { acme, nobody, logged } = context;
    try {
      const key = await keyOf(acme);
      isBroken = true;
      const texts = [];
      for (const path of [
        `/c/${key}/job?create=1`,
        `/ping/${key}/job/start`,
        `/c/${key}/%FF`,
        `/x/${key}/job`,
      ]) {
        for (const verb of ['GET', 'POST', 'DELETE']) {
          const { text: body, headers } = await nobody.ask(verb, path);
          texts.push(body, JSON.stringify(headers));
        }
      }
      texts.push((await nobody.get('/metrics')).text, JSON.stringify(logged));
      assert.ok(logged.some(({ msg }) => msg === 'a check-in was not stored'));
      for (const one of texts) assert.not.match(one, key.slice(4));
      logged.length = 0;
    } finally {
      await context.close();
    }
  }
});

test('whoever guesses keys is slowed down, while keys that were right before go on', async () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 5, blockS: 60 });
  await withFixture({ limiter }, async ({ acme, nobody }) => {
    const key = await keyOf(acme);
    text(await nobody.get(`/c/${key}/job?create=1&interval=daily`), 201);
    const guesses = [];
    for (let count = 0; count < 40; count += 1) {
      guesses.push(await nobody.get(`/c/snk_${String(count).padStart(40, '0')}/job`));
    }
    const late = guesses.filter(({ status }) => status === 429);
    assert.ok(late.length > 10, `${late.length}`);
    assert.is(guesses[0]?.status, 401);
    assert.match(late[0]?.headers['retry-after'] ?? '', /^\d+$/);
    for (let count = 0; count < 20; count += 1) text(await nobody.get(`/c/${key}/job`), 200);
    ok(await acme.write.get('/v1/snitches'));
  });
});

test('a right key is never taken for a guess, not even by a server that does not know it yet', async () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 5, blockS: 60 });
  await withFixture({ limiter }, async ({ acme, nobody }) => {
    const key = await keyOf(acme);
    await newSnitch(acme, { name: 'job' });
    const guess = (count: number) => nobody.get(`/c/snk_${String(count).padStart(40, '0')}/job`);
    const guesses = await Promise.all(Array.from({ length: 40 }, (_, count) => guess(count)));
    assert.ok(guesses.some(({ status }) => status === 429));
    text(await nobody.get(`/c/${key}/job`), 200);
  });
  // As at midnight right after a start, from many hosts behind one address.
  const atOnce = new RateLimiter({ perMinute: 60, burst: 5, blockS: 60 });
  await withFixture({ limiter: atOnce }, async ({ acme, nobody }) => {
    const key = await keyOf(acme);
    const snitch = await newSnitch(acme, { name: 'job' });
    const answers = await Promise.all(Array.from({ length: 60 }, () => nobody.get(`/c/${key}/job`)));
    for (const answer of answers) text(answer, 200);
    assert.is((await log(acme, snitch)).length, 60);
  });
});

test('the last use of the key is noted', async ({ acme, nobody }) => {
  const key = await keyOf(acme);
  text(await nobody.get(`/c/${key}/job`), 404);
  for (let tries = 0; tries < 50; tries += 1) await new Promise(setImmediate);
  const keys = ok<WireApiKey[]>(await acme.write.get('/v1/api_keys'));
  assert.is(keys.find(({ scope }) => scope === 'provision')?.last_used_at, '2026-11-18T10:20:30.123Z');
});

test.run();
