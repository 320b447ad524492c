/** What a web page of another site makes a browser send (`decisions: Requests by a browser`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Asked } from './client.ts';
import { ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch } from './fixture.ts';

const test = suite<Fixture>('requests by a browser');
test.before.each(hooks.start);
test.after.each(hooks.close);

const URL_OF_HOOK = 'https://example.com/hook';

/** What a form of another page sends: text that is JSON, with the key that the browser remembers. */
function form(headers: Record<string, string>): Asked {
  const body = JSON.stringify({ url: URL_OF_HOOK });
  return { body, headers: { 'content-type': 'text/plain', ...headers } };
}

const FOREIGN: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'Cross-Site' },
  { 'sec-fetch-site': '' },
  { 'sec-fetch-site': 'same-origin, cross-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: '' },
  { origin: 'http://snitch.example.com' },
  { origin: 'https://snitch.example.com:8443' },
  { origin: 'https://snitch.example.com.evil.example' },
  { origin: 'http://127.0.0.1' },
  { origin: 'file://' },
  { origin: 'chrome-extension://abcdef' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  { origin: 'https://snitch.example.com', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
];

test('a page of another site changes nothing, whatever key comes along', async ({ acme, admin, nobody }) => {
  const { href } = await newSnitch(acme);
  for (const headers of FOREIGN) {
    const about = JSON.stringify(headers);
    for (const client of [acme.write, acme.read, admin, nobody]) {
      refused(await client.ask('POST', '/v1/webhooks', form(headers)), 403, 'origin_forbidden', about);
    }
    refused(await acme.write.ask('DELETE', href, { headers }), 403, 'origin_forbidden', about);
    refused(await admin.ask('PUT', '/v1/maintenance', form(headers)), 403, 'origin_forbidden', about);
    refused(await nobody.ask('POST', '/v1/nothing', { headers }), 403, 'origin_forbidden', about);
    refused(await nobody.ask('POST', '/healthz', { headers }), 403, 'origin_forbidden', about);
  }
  assert.equal(ok(await acme.read.get('/v1/webhooks')), []);
  ok(await acme.read.get(href));
});

test('programs are served, and so are the server’s own pages under any of its names', async ({
  acme,
  port,
}) => {
  const own: readonly Record<string, string>[] = [
    {},
    { host: 'anything.example' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'https://snitch.example.com', 'sec-fetch-site': 'same-origin' },
    { origin: `http://127.0.0.1:${port}` },
    { origin: 'https://other.example', host: 'other.example' },
    { origin: 'https://other.example', host: 'Other.Example:443' },
    { origin: 'https://other.example:8443', host: 'other.example:8443' },
  ];
  for (const headers of own) ok(await acme.write.ask('POST', '/v1/webhooks', form(headers)));
  assert.is(ok<unknown[]>(await acme.read.get('/v1/webhooks')).length, own.length);
});

test('reading needs a key and changes nothing; a check-in needs none', async ({ acme, nobody }) => {
  const { token, href } = await newSnitch(acme);
  for (const headers of FOREIGN) {
    ok(await acme.read.ask('GET', href, { headers }));
    assert.is((await acme.read.ask('HEAD', '/v1/snitches', { headers })).status, 200);
    assert.is((await nobody.ask('POST', `/c/${token}`, { headers, body: 'm=done' })).status, 202);
  }
});

test.run();
