import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireDelivery, WireWebhook } from '../../src/api/wire.ts';
import { blank, empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, withFixture } from './fixture.ts';

const test = suite<Fixture>('webhooks');
test.before.each(hooks.start);
test.after.each(hooks.close);

const NOT_WEB = { attribute: 'url', message: 'must be an http:// or https:// URL' };

test('the secret is shown once, in the answer that makes the webhook', async ({ acme }) => {
  const made = ok<WireWebhook>(
    await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/in?x=1' }),
  );
  const { secret, ...shown } = made;
  assert.match(secret ?? '', /^whsec_[A-Za-z0-9+/]{32}$/);
  assert.match(shown.id, /^hook_[a-z2-7]{16}$/);
  const { id } = shown;
  assert.equal(shown, { id, url: 'https://hook.example.com/in?x=1', created_at: '2026-11-18T10:20:30.123Z' });
  assert.equal(ok(await acme.read.get('/v1/webhooks')), [shown]);
  assert.equal(ok(await acme.read.get(`/v1/webhooks/${id}`)), shown);
});

test('notices are for those that want them', async ({ acme }) => {
  const url = 'https://hook.example.com/';
  const made = ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url, notices: true }));
  assert.is(made.notices, true);
  assert.is(ok<WireWebhook>(await acme.read.get(`/v1/webhooks/${made.id}`)).notices, true);
  const plain = ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url, notices: false }));
  assert.is(plain.notices, undefined);
  const answer = await acme.write.post('/v1/webhooks', { url, notices: 'yes' });
  invalid(answer, { attribute: 'notices', message: 'must be true or false' });
});

test('an address that is never called is refused before it is stored', async ({ acme }) => {
  const metadata = [
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
  ];
  for (const url of metadata) {
    const answer = await acme.write.post('/v1/webhooks', { url });
    invalidOn(answer, 'url');
    assert.match(answer.text, /is never called: .* (link-local|cloud metadata) address/);
  }
  assert.equal(ok(await acme.read.get('/v1/webhooks')), []);
  ok(await acme.write.post('/v1/webhooks', { url: 'http://[::1]:8080/' }));
  await withFixture({ allowPrivate: false }, async ({ acme: strict }) => {
    const answer = await strict.write.post('/v1/webhooks', { url: 'http://[::1]:8080/' });
    invalid(answer, {
      attribute: 'url',
      message: 'is never called: ::1 is a loopback address, which webhooks.allow_private forbids',
    });
    ok(await strict.write.post('/v1/webhooks', { url: 'https://hook.example.com/' }));
  });
});

test('lists are newest first', async ({ acme, clock }) => {
  for (const path of ['a', 'b', 'c']) {
    clock.now += 1;
    ok(await acme.write.post('/v1/webhooks', { url: `http://127.0.0.1:8080/${path}` }));
  }
  const urls = ok<WireWebhook[]>(await acme.read.get('/v1/webhooks')).map(({ url }) => url.at(-1));
  assert.equal(urls, ['c', 'b', 'a']);
});

test('credentials in a URL are kept for sending and are in no answer', async (context) => {
  const { acme, admin, store } = context;
  const urls: [string, string][] = [
    ['https://alice:s3cr3t-pass@hook.example.com/a', 'https://hook.example.com/a'],
    ['https://s3cr3t-user@hook.example.com/b', 'https://hook.example.com/b'],
    ['https://:s3cr3t-alone@hook.example.com/c', 'https://hook.example.com/c'],
    [
      'https://s3cr3t%40x:s3cr3t%3A%2F@hook.example.com:8443/d?e=f#g',
      'https://hook.example.com:8443/d?e=f#g',
    ],
  ];
  const answers: string[] = [];
  for (const [url, shown] of urls) {
    const answer = await acme.write.post('/v1/webhooks', { url });
    const made = ok<WireWebhook>(answer);
    assert.is(made.url, shown);
    assert.is((await store.getWebhook(acme.id, made.id))?.url, url);
    answers.push(answer.text, (await acme.write.post(`/v1/webhooks/${made.id}/test`)).text);
    answers.push((await acme.write.post(`/v1/webhooks/${made.id}/rotate_secret`)).text);
    answers.push((await acme.write.get(`/v1/webhooks/${made.id}`)).text);
  }
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token);
  const deliveries = await acme.write.get('/v1/deliveries');
  const lists = [
    `${href}/alerts`,
    `${href}/explain`,
    '/v1/alerts',
    '/v1/webhooks',
    '/v1/case',
    '/v1/snitches',
  ];
  for (const path of lists) answers.push((await acme.write.get(path)).text);
  for (const path of ['/v1/cases', `/v1/cases/${acme.id}`]) answers.push((await admin.get(path)).text);
  for (const { id } of ok<WireDelivery[]>(deliveries)) {
    answers.push((await acme.write.post(`/v1/deliveries/${id}/retry`)).text);
  }
  answers.push(deliveries.text);
  for (const url of [
    'ftp://u:s3cr3t@x',
    'https://u:s3cr3t@',
    'http://s3cr3t:x@ex ample.com',
    `https://u:s3cr3t@h/${'x'.repeat(3_000)}`,
  ]) {
    const answer = await acme.write.post('/v1/webhooks', { url });
    invalidOn(answer, 'url');
    answers.push(answer.text);
  }
  for (const text of answers) assert.not.match(text, /s3cr3t|alice/);
  assert.not.match(JSON.stringify(context.logged), /s3cr3t|alice/);
});

test('only an http or https URL is taken', async ({ acme }) => {
  for (const url of [undefined, null, '', '   '])
    invalid(await acme.write.post('/v1/webhooks', { url }), blank('url'));
  invalid(await acme.write.post('/v1/webhooks'), blank('url'));
  const bad = [
    'hook.example.com',
    '//hook.example.com',
    'ftp://x.example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'https://',
    'http://ex ample.com',
    'http://[::1',
    'http://x:99999',
    'x',
    'https://%00.example.com',
  ];
  for (const url of bad) invalid(await acme.write.post('/v1/webhooks', { url }), NOT_WEB);
  const long = `https://hook.example.com/${'x'.repeat(2_048)}`;
  for (const url of [5, true, [], {}, ['https://x.example.com'], long]) {
    invalidOn(await acme.write.post('/v1/webhooks', { url }), 'url');
  }
  assert.equal(ok(await acme.read.get('/v1/webhooks')), []);
});

test('a URL is kept in its normal form', async ({ acme }) => {
  const forms: [string, string][] = [
    [' https://hook.example.com ', 'https://hook.example.com/'],
    ['HTTPS://Hook.Example.com:443/a b/../c', 'https://hook.example.com/c'],
    ['https://größe.example.com/ü', 'https://xn--gre-6ka8i.example.com/%C3%BC'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
  ];
  for (const [given, shown] of forms) {
    assert.is(ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url: given })).url, shown);
  }
});

test('DELETE answers 204, and the webhook gets no more alerts', async (context) => {
  const { acme } = context;
  const { id } = ok<WireWebhook>(
    await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/x' }),
  );
  const one = await newSnitch(acme);
  await checkIn(context, one.token);
  empty(await acme.write.delete(`/v1/webhooks/${id}`));
  refused(await acme.write.get(`/v1/webhooks/${id}`), 404, 'resource_not_found');
  refused(await acme.write.delete(`/v1/webhooks/${id}`), 404, 'resource_not_found');
  refused(await acme.write.post(`/v1/webhooks/${id}/test`), 404, 'resource_not_found');
  refused(await acme.write.post(`/v1/webhooks/${id}/rotate_secret`), 404, 'resource_not_found');
  const two = await newSnitch(acme);
  await checkIn(context, two.token);
  const targets = async (href: string) => {
    const [alert] = ok<WireAlert[]>(await acme.read.get(`${href}/alerts`));
    return alert?.deliveries.map(({ target }) => target);
  };
  assert.equal(await targets(two.href), []);
  assert.equal(await targets(one.href), [id], 'of a webhook that is gone, the id is left');
});

test('a test goes to the one webhook only, as a delivery that can be followed', async ({ acme }) => {
  const { id } = ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url: 'https://one.example.com/' }));
  ok(await acme.write.post('/v1/webhooks', { url: 'https://two.example.com/' }));
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const delivery = ok<WireDelivery>(await acme.write.post(`/v1/webhooks/${id}/test`));
  assert.equal(delivery, {
    id: delivery.id,
    alert: delivery.alert,
    channel: 'webhook',
    target: 'https://one.example.com/',
    type: 'snitch.reporting',
    snitch: { token: 'test', name: 'Test alert' },
    state: 'pending',
    sending: false,
    attempts: 0,
    last_error: null,
    next_attempt_at: '2026-11-18T10:20:30.123Z',
    delivered_at: null,
  });
  assert.equal(ok(await acme.read.get('/v1/deliveries')), [delivery]);
  const [alert] = ok<WireAlert[]>(await acme.read.get('/v1/alerts'));
  assert.equal(alert?.deliveries, [delivery]);
  assert.is(alert?.type, 'snitch.reporting');
});

test('a rotated secret is shown once', async ({ acme }) => {
  const made = ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/' }));
  const rotated = ok<WireWebhook>(await acme.write.post(`/v1/webhooks/${made.id}/rotate_secret`));
  assert.match(rotated.secret ?? '', /^whsec_/);
  assert.not.equal(rotated.secret, made.secret);
  assert.equal({ ...rotated, secret: '' }, { ...made, secret: '' });
  assert.not.match((await acme.write.get('/v1/webhooks')).text, 'whsec_');
});

test.run();
