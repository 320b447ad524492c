/** Every path below `/v1` under every method: those that the description names are served, and no other. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ok, refused } from './expect.ts';
import { type Fixture, hooks } from './fixture.ts';

const test = suite<Fixture>('every method');
test.before.each(hooks.start);
test.after.each(hooks.close);

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PURGE',
  'ACL',
];

/** A body that no path accepts, so nothing changes. */
const MALFORMED = { body: '{"x":' };

interface Served {
  path: string;
  /** With HEAD where there is GET. */
  methods: Set<string>;
}

/** What the description of the API says, each parameter replaced by an `x`. */
async function described({ nobody }: Fixture): Promise<Served[]> {
  const { paths } = ok<{ paths: Record<string, object> }>(await nobody.get('/openapi.json'));
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .map(([path, operations]) => {
      const methods = new Set(Object.keys(operations).map((method) => method.toUpperCase()));
      methods.delete('PARAMETERS');
      if (methods.has('GET')) methods.add('HEAD');
      return { path: path.replaceAll(/\{\w+\}/g, 'x'), methods };
    });
}

const askedWith = (method: string) => (method === 'TRACE' ? {} : MALFORMED);

test('whatever is not described is answered 405 with what is, to any key', async (context) => {
  const { acme, admin } = context;
  for (const { path, methods } of await described(context)) {
    for (const method of METHODS.filter((name) => !methods.has(name))) {
      const about = `${method} ${path}`;
      const slash = method === 'PUT' ? '/' : '';
      for (const client of [acme.read, admin]) {
        const answer = await client.ask(method, `${path}${slash}`, askedWith(method));
        if (method === 'HEAD') assert.equal([answer.status, answer.text], [405, ''], about);
        else refused(answer, 405, 'method_not_allowed', about);
        const allowed = new Set(String(answer.headers.allow).split(', '));
        assert.equal([...allowed].toSorted(), [...methods].toSorted(), about);
      }
    }
  }
});

test('whatever is described is served, and HEAD is GET without its body', async (context) => {
  const { acme } = context;
  for (const { path, methods } of await described(context)) {
    for (const method of methods) {
      // It does not end.
      if (path === '/v1/stream' && method === 'GET') continue;
      const answer = await acme.write.ask(method, path, askedWith(method));
      assert.is.not(answer.status, 405, `${method} ${path}`);
      assert.is(answer.headers.allow, undefined, `${method} ${path}`);
      if (method !== 'GET') continue;
      const head = await acme.write.ask('HEAD', path);
      assert.equal([head.status, head.text], [answer.status, ''], path);
      assert.is(head.headers['content-type'], answer.headers['content-type'], path);
      // The length of a list that is written in pieces is not known beforehand.
      const { 'content-length': length = answer.headers['content-length'] } = head.headers;
      assert.is(length, answer.headers['content-length'], path);
    }
  }
});

/** @param asks refuses every request */
async function refusedEverywhere(
  context: Fixture,
  asks: Fixture['nobody'],
  status: number,
  type: string,
): Promise<void> {
  for (const path of [...(await described(context)).map((one) => one.path), '/v1/nothing']) {
    for (const method of ['GET', 'POST', 'DELETE', 'TRACE', 'PURGE']) {
      const answer = await asks.ask(method, path, askedWith(method));
      refused(answer, status, type, `${method} ${path}`);
      assert.is(answer.headers.allow, undefined, `${method} ${path}`);
    }
  }
}

test('without a key, no method of any path is answered anything but 401', async (context) => {
  await refusedEverywhere(context, context.nobody, 401, 'api_key_invalid');
});

test('on hold, no method of any path is answered anything but 402', async (context) => {
  const { acme, admin } = context;
  ok(await admin.patch(`/v1/cases/${acme.id}`, { on_hold: true }));
  await refusedEverywhere(context, acme.write, 402, 'account_on_hold');
});

test.run();
