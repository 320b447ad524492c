/** Answers that are given past the router: the same as its own, and only of what is open to everybody. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireBadge } from '../../../src/api/wire-badge.ts';
import type { Answer } from '../client.ts';
import { ok } from '../expect.ts';
import { type Fixture, hooks, newSnitch } from '../fixture.ts';
import { put } from './status-page/page.ts';

const test = suite<Fixture>('copies');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** Without the time, which differs with each answer. */
const seen = ({ status, headers: { date: _, ...headers }, text }: Answer) => ({ status, headers, text });

async function shown(context: Fixture): Promise<string[]> {
  const { token } = await newSnitch(context.acme, { tags: ['public'] });
  await put(context);
  const badge = ok<WireBadge>(await context.acme.write.post('/v1/badges', { token }));
  const picture = new URL(badge.url).pathname;
  return ['/s/acme', '/s/acme.json', '/s/acme/feed.xml', picture, picture.replace('.svg', '.json')];
}

test('a request with a query, which the router answers, gets what one without gets', async (context) => {
  const { nobody } = context;
  const paths = await shown(context);
  const etags = await Promise.all(paths.map(async (path) => (await nobody.get(path)).headers.etag ?? ''));
  for (const [index, path] of paths.entries()) {
    const etag = etags[index] ?? '';
    const asked = [
      {},
      { 'if-none-match': etag },
      { 'if-none-match': `"a", ${etag} , W/"b"` },
      { 'if-none-match': `W/${etag.replace(/^W\//, '')}` },
      { 'if-none-match': '"other"' },
      { range: 'bytes=0-9' },
      { 'accept-encoding': 'br, gzip;q=0' },
      { 'accept-encoding': 'identity' },
      { cookie: 'snitch_page=1.x' },
    ];
    for (const method of ['GET', 'HEAD']) {
      for (const headers of asked) {
        const quick = seen(await nobody.ask(method, path, { headers }));
        const routed = seen(await nobody.ask(method, `${path}?x=1`, { headers }));
        assert.equal(quick, routed, `${method} ${path} ${JSON.stringify(headers)}`);
        const knows = 'if-none-match' in headers && headers['if-none-match'] !== '"other"';
        assert.is(quick.status, knows ? 304 : 200);
        assert.is(quick.headers['content-encoding'], undefined);
        assert.is(quick.text === '', knows || method === 'HEAD');
      }
    }
  }
});

test('nothing is answered from memory that was closed or taken away', async (context) => {
  const { acme, nobody } = context;
  const paths = (await shown(context)).slice(0, 3);
  const statuses = () => Promise.all(paths.map(async (path) => (await nobody.get(path)).status));
  assert.equal(await statuses(), [200, 200, 200]);
  await put(context, { password: 'correct horse' });
  const authorization = `Basic ${Buffer.from('x:correct horse').toString('base64')}`;
  const reader = await nobody.ask('GET', '/s/acme.json', { headers: { authorization } });
  assert.is(reader.status, 200, 'its bytes are in memory now');
  assert.equal(await statuses(), [401, 401, 401]);
  await put(context, { password: null, slug: 'other' });
  assert.equal(await statuses(), [404, 404, 404]);
  await put(context, { slug: 'acme' });
  assert.equal(await statuses(), [200, 200, 200]);
  await acme.write.delete('/v1/status_page');
  assert.equal(await statuses(), [404, 404, 404]);
});

test.run();
