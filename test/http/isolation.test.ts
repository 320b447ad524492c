/** A key sees its own case only; what belongs to another case does not exist for it (`spec §1`, §4 rule 6). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  WireAlert,
  WireApiKey,
  WireCase,
  WireDelivery,
  WireSnitch,
  WireWebhook,
} from '../../src/api/wire.ts';
import type { Client } from './client.ts';
import { ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch } from './fixture.ts';

const test = suite<Fixture>('isolation and scopes');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** Everything that a case can own, one of each. */
async function furnish(context: Fixture, { write }: { write: Client }) {
  ok(await write.patch('/v1/case', { members: ['ann@example.com'] }));
  const webhook = ok<WireWebhook>(await write.post('/v1/webhooks', { url: 'https://hook.example.com/x' }));
  const apiKey = ok<WireApiKey>(await write.post('/v1/api_keys', { name: 'extra' }));
  const snitch = ok<WireSnitch>(
    await write.post('/v1/snitches', { name: 'theirs', interval: 'daily', tags: ['a'] }),
  );
  await checkIn(context, snitch.token);
  const alerts = ok<WireAlert[]>(await write.get('/v1/alerts'));
  const deliveries = ok<WireDelivery[]>(await write.get('/v1/deliveries'));
  const listed = ok<WireSnitch[]>(await write.get('/v1/snitches'));
  const one = ok<WireCase>(await write.get('/v1/case'));
  return { webhook, apiKey, snitch, alerts, deliveries, listed, one };
}

/** Every request that names something of a case, with a body that would do. */
function requestsFor({ webhook, apiKey, snitch, deliveries }: Awaited<ReturnType<typeof furnish>>) {
  const { href } = snitch;
  const requests: [string, string, unknown?][] = [
    ['GET', href],
    ['PATCH', href, { name: 'mine' }],
    ['DELETE', href],
    ['POST', `${href}/tags`, ['mine']],
    ['DELETE', `${href}/tags/a`],
    ['POST', `${href}/pause`],
    ['POST', `${href}/unpause`],
    ['GET', `${href}/check_ins`],
    ['GET', `${href}/alerts`],
    ['GET', `${href}/explain`],
    ['GET', `/v1/webhooks/${webhook.id}`],
    ['DELETE', `/v1/webhooks/${webhook.id}`],
    ['POST', `/v1/webhooks/${webhook.id}/test`],
    ['POST', `/v1/webhooks/${webhook.id}/rotate_secret`],
    ['DELETE', `/v1/api_keys/${apiKey.id}`],
    ['POST', `/v1/deliveries/${deliveries[0]?.id}/retry`],
  ];
  return requests;
}

test('what belongs to another case is not found in every endpoint, as if it did not exist', async (context) => {
  const { acme, rival } = context;
  const theirs = await furnish(context, rival);
  const answers: string[] = [];
  for (const [method, path, json] of requestsFor(theirs)) {
    const answer = await acme.write.ask(method, path, { json });
    refused(answer, 404, 'resource_not_found', `${method} ${path}`);
    answers.push(answer.text);
  }
  for (const path of ['/v1/snitches/unknown', '/v1/webhooks/unknown', '/v1/deliveries/999/retry']) {
    answers.push((await acme.write.ask(path.endsWith('retry') ? 'POST' : 'GET', path)).text);
  }
  assert.is(new Set(answers).size, 1, 'the answer does not tell the two apart');
  assert.equal(ok(await rival.write.get('/v1/snitches')), theirs.listed);
  assert.equal(ok(await rival.write.get('/v1/alerts')), theirs.alerts);
  assert.equal(ok(await rival.write.get('/v1/deliveries')), theirs.deliveries);
  assert.equal(ok(await rival.write.get('/v1/case')), theirs.one);
  const { secret: _secret, ...kept } = theirs.webhook;
  assert.equal(ok(await rival.write.get('/v1/webhooks')), [kept]);
});

test('the same requests do succeed with a key of the case', async (context) => {
  const theirs = await furnish(context, context.rival);
  const requests = requestsFor(theirs);
  const last = requests.filter(([method, path]) => method === 'DELETE' && !path.includes('/tags/'));
  for (const [method, path, json] of [...requests.filter((request) => !last.includes(request)), ...last]) {
    const { status } = await context.rival.write.ask(method, path, { json });
    assert.ok(status === 200 || status === 204, `${method} ${path} ${status}`);
  }
});

test('lists hold nothing of another case', async (context) => {
  const { acme, rival } = context;
  const theirs = await furnish(context, rival);
  await newSnitch(acme, { name: 'mine', tags: ['a'] });
  for (const path of [
    '/v1/snitches?tags=a',
    '/v1/alerts',
    '/v1/deliveries',
    '/v1/webhooks',
    '/v1/api_keys',
  ]) {
    const { text } = await acme.write.get(path);
    for (const id of [theirs.snitch.token, theirs.webhook.id, theirs.apiKey.id, rival.id, 'theirs']) {
      assert.not.match(text, id, path);
    }
  }
  const [alert] = theirs.alerts;
  assert.equal(ok(await acme.write.get(`/v1/alerts?before=${alert?.id}`)), []);
});

/** One of all that a page may show. Whatever a person has named bears the name of the case, in small letters. */
async function inhabit(context: Fixture, name: 'acme' | 'rival'): Promise<string> {
  const { write } = context[name];
  const named = (what: string) => `${name}-${what}`;
  const scope = { events: ['missing', 'errored', 'reporting', 'paused', 'blind'] };
  const channel = { kind: 'ntfy', settings: { topic: 'jobs' }, ...scope, name: named('pager') };
  const needed = await newSnitch(context[name], { name: named('host'), tags: ['db'], notes: named('notes') });
  const { token } = await newSnitch(context[name], {
    name: named('job'),
    tags: ['db', named('tag')],
    needs: [needed.token],
    alert_email: [`own@${name}.example`],
  });
  const asked: [string, string, unknown][] = [
    ['PATCH', '/v1/case', { members: [`ann@${name}.example`] }],
    ['POST', '/v1/webhooks', { url: `https://hook.${name}.example/`, notices: true }],
    ['POST', '/v1/channels', channel],
    ['POST', '/v1/badges', { tag: 'db', label: named('badge') }],
    ['POST', '/v1/silences', { tags: ['night'], duration: 3_600, note: named('silence') }],
    ['PUT', '/v1/status_page', { slug: named('page'), title: named('title'), tags: ['*'], groups: ['db'] }],
    ['PUT', '/v1/ownership', { owner: named('file'), tokens: [token] }],
    ['POST', '/v1/api_keys', { name: named('key') }],
  ];
  for (const [method, path, json] of asked) {
    const { status, text } = await write.ask(method, path, { json });
    assert.ok(status < 300, `${method} ${path} ${status} ${text}`);
  }
  for (const report of ['', `?s=3&m=${named('words')}`, `?v.${name}_rows=5`])
    await checkIn(context, token, report);
  return token;
}

test('no page names anything of another case', async (context) => {
  const { acme, rival, nobody, routes } = context;
  const token = await inhabit(context, 'acme');
  await inhabit(context, 'rival');
  const pages = [...routes]
    .filter((path) => !/:id|:tag|stream/.test(path))
    .map((path) => path.replace(':token', token));
  let read = 0;
  for (const path of [
    ...pages,
    '/v1/snitches?tags=db',
    '/s/acme-page',
    '/s/acme-page.json',
    '/s/acme-page/feed.xml',
  ]) {
    const { status, text } = await (path.startsWith('/s/') ? nobody : acme.write).get(path);
    if (status !== 200) continue;
    read += 1;
    assert.not.match(text, /rival/i, path);
    assert.not.match(text, rival.id, path);
  }
  assert.is(read, 22);
});

test('a read key reads everything and changes nothing', async (context) => {
  const { rival } = context;
  const theirs = await furnish(context, rival);
  const writes: [string, string, unknown?][] = [
    ['POST', '/v1/snitches', { name: 'n', interval: 'daily' }],
    ['PATCH', '/v1/case', { name: 'x' }],
    ['POST', '/v1/webhooks', { url: 'https://x.example.com' }],
    ['POST', '/v1/api_keys', { name: 'x' }],
    ...requestsFor(theirs).filter(([method]) => method !== 'GET'),
    ['DELETE', '/v1/snitches/unknown'],
    ['POST', '/v1/snitches/unknown/pause', { until: 'never' }],
  ];
  for (const [method, path, json] of writes) {
    refused(await rival.read.ask(method, path, { json }), 403, 'api_key_forbidden', `${method} ${path}`);
  }
  refused(await rival.read.ask('POST', '/v1/snitches', { body: '{' }), 403, 'api_key_forbidden');
  const reads = requestsFor(theirs).filter(([method]) => method === 'GET');
  const lists = ['/v1/snitches', '/v1/case', '/v1/webhooks', '/v1/api_keys', '/v1/alerts', '/v1/deliveries'];
  for (const path of [...lists, ...reads.map(([, one]) => one)]) {
    ok(await rival.read.get(path));
    assert.is((await rival.read.ask('HEAD', path)).status, 200);
  }
  assert.equal(ok(await rival.read.get('/v1/snitches')), theirs.listed);
  assert.equal(ok(await rival.read.get('/v1/case')), theirs.one);
});

test('keys of a case do not administer the server', async ({ acme, rival }) => {
  const requests: [string, string, unknown?][] = [
    ['GET', '/v1/cases'],
    ['POST', '/v1/cases', { name: 'x' }],
    ['GET', `/v1/cases/${acme.id}`],
    ['GET', `/v1/cases/${rival.id}`],
    ['PATCH', `/v1/cases/${acme.id}`, { max_snitches: null }],
    ['DELETE', `/v1/cases/${rival.id}`],
    ['DELETE', '/v1/cases/unknown'],
    ['GET', `/v1/cases/${acme.id}/api_keys`],
    ['POST', `/v1/cases/${rival.id}/api_keys`, { name: 'x' }],
    ['GET', '/v1/maintenance'],
    ['GET', '/v1/nodes'],
    ['PUT', '/v1/maintenance', { enabled: true }],
  ];
  for (const client of [acme.write, acme.read]) {
    for (const [method, path, json] of requests) {
      refused(await client.ask(method, path, { json }), 403, 'api_key_forbidden', `${method} ${path}`);
    }
  }
});

test('an admin key owns no snitches', async (context) => {
  const { admin, rival } = context;
  const theirs = await furnish(context, rival);
  const lists = ['/v1/snitches', '/v1/case', '/v1/webhooks', '/v1/alerts', '/v1/deliveries', '/v1/stream'];
  const requests: [string, string, unknown?][] = [
    ...lists.map((path) => ['GET', path] as [string, string]),
    ['POST', '/v1/snitches', { name: 'n', interval: 'daily' }],
    ...requestsFor(theirs).filter(([, path]) => !path.startsWith('/v1/api_keys')),
  ];
  for (const [method, path, json] of requests) {
    refused(await admin.ask(method, path, { json }), 403, 'api_key_forbidden', `${method} ${path}`);
  }
  refused(await admin.delete(`/v1/api_keys/${theirs.apiKey.id}`), 404, 'resource_not_found');
});

test.run();
