/** `/v1/channels`: all ways in which alerts are sent, and no secret in any answer. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireAudience, WireChannel, WireDelivery } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, withFixture } from './fixture.ts';

const test = suite<Fixture>('channels');
test.before.each(hooks.start);
test.after.each(hooks.close);

const NTFY = { kind: 'ntfy', settings: { topic: 'ops', token: 'tk_s3cr3t' } };
const SLACK = { kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B0/s3cr3ts3cr3t' } };

test('the credentials of a server may contain any character, and are kept as given', async (context) => {
  const { acme, store } = context;
  for (const password of ['pa$$word', 'pa$&word', "pa$'word", 'pa$1word']) {
    const settings = { url: `https://ann$$:${password}@am.example.com/prom` };
    const { id } = ok<WireChannel>(await acme.write.post('/v1/channels', { kind: 'alertmanager', settings }));
    const stored = await store.getChannel(acme.id, id);
    assert.equal(stored?.settings, settings);
    const shown = ok<WireChannel[]>(await acme.read.get('/v1/channels')).find((one) => one.id === id);
    assert.equal(shown?.settings, { url: 'https://ann$$:***@am.example.com/prom' });
  }
});

test('an address that an earlier build stored and nobody can read is hidden, and can be given again', async (context) => {
  const { acme, store } = context;
  const settings = { url: 'https://ann:pa//word@am.example.com' };
  const fields = { settings, events: ['missing'] as const, tags: [] };
  const { id } = await store.createChannel(acme.id, { kind: 'alertmanager', name: 'am', fields }, 0);
  const shown = ok<WireChannel[]>(await acme.read.get('/v1/channels')).find((one) => one.id === id);
  assert.equal(shown?.settings, { url: '***' });
  const url = 'https://ann:word@am.example.com';
  ok(await acme.write.patch(`/v1/channels/${id}`, { settings: { url } }));
  assert.equal((await store.getChannel(acme.id, id))?.settings, { url });
});

test('a channel is made, read, changed and deleted', async ({ acme }) => {
  const made = ok<WireChannel>(
    await acme.write.post('/v1/channels', { ...NTFY, name: 'night', tags: ['db'] }),
  );
  assert.match(made.id, /^chan_[a-z2-7]{16}$/);
  assert.equal(made, {
    id: made.id,
    kind: 'ntfy',
    name: 'night',
    settings: { topic: 'ops', token: '***' },
    events: ['missing', 'errored', 'reporting', 'paused'],
    tags: ['db'],
    after: 0,
    hours: null,
    refused: null,
    created_at: '2026-11-18T10:20:30.123Z',
  });
  const path = `/v1/channels/${made.id}`;
  assert.equal(ok(await acme.read.get(path)), made);
  assert.equal(ok(await acme.write.patch(path, made)), made, 'a whole object may come back');
  const changed = ok<WireChannel>(
    await acme.write.patch(path, { events: ['errored'], settings: { topic: 'x' } }),
  );
  assert.equal(changed, { ...made, events: ['errored'], settings: { topic: 'x', token: '***' } });
  empty(await acme.write.delete(path));
  refused(await acme.read.get(path), 404, 'resource_not_found');
  refused(await acme.write.patch(path, {}), 404, 'resource_not_found');
  refused(await acme.write.delete(path), 404, 'resource_not_found');
  refused(await acme.write.post(`${path}/test`), 404, 'resource_not_found');
});

test('webhooks and members are listed as well, and changed where they belong', async ({ acme }) => {
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const hook = ok<{ id: string }>(
    await acme.write.post('/v1/webhooks', { url: 'https://u:s3cr3t@hook.example.com/x', notices: true }),
  );
  ok(await acme.write.post('/v1/channels', SLACK));
  const all = ok<WireChannel[]>(await acme.read.get('/v1/channels'));
  assert.equal(
    all.map(({ kind, name, settings }) => [kind, name, settings]),
    [
      ['slack', 'slack', { url: '***' }],
      ['webhook', 'https://hook.example.com/x', { url: 'https://hook.example.com/x' }],
      ['email', 'ann@example.com', { address: 'ann@example.com' }],
    ],
  );
  assert.ok(all[1]?.events.includes('blind'));
  for (const { id, kind } of all.slice(1)) {
    const path = `/v1/channels/${encodeURIComponent(id)}`;
    assert.is(ok<WireChannel>(await acme.read.get(path)).kind, kind);
    invalidOn(await acme.write.delete(path), 'kind');
    const sent = ok<WireDelivery>(await acme.write.post(`${path}/test`));
    assert.equal([sent.channel, sent.snitch?.token], [kind, 'test']);
  }
  assert.ok(hook.id);
});

test('a test goes to the one channel, and is named after it', async ({ acme }) => {
  const { id } = ok<WireChannel>(await acme.write.post('/v1/channels', { ...NTFY, name: 'night' }));
  ok(await acme.write.post('/v1/channels', SLACK));
  const sent = ok<WireDelivery>(await acme.write.post(`/v1/channels/${id}/test`));
  assert.equal([sent.channel, sent.target, sent.state], ['ntfy', 'night', 'pending']);
  assert.equal(ok(await acme.read.get('/v1/deliveries')), [sent]);
});

test('no answer and no line of the log has a secret or an address in it', async (context) => {
  const { acme } = context;
  const answers: string[] = [];
  for (const body of [
    NTFY,
    SLACK,
    { kind: 'gotify', settings: { server: 'http://a:s3cr3t@g', token: 's3cr3t' } },
  ]) {
    const answer = await acme.write.post('/v1/channels', body);
    const { id } = ok<WireChannel>(answer);
    answers.push(answer.text, (await acme.write.post(`/v1/channels/${id}/test`)).text);
    answers.push((await acme.write.patch(`/v1/channels/${id}`, { name: 'x' })).text);
  }
  for (const settings of [
    { url: 's3cr3t' },
    { url: 'https://hooks.slack.com/triggers/s3cr3t' },
    { s3cr3t: 's3cr3t' },
  ]) {
    const answer = await acme.write.post('/v1/channels', { kind: 'slack', settings });
    assert.is(answer.status, 422);
    if (!('s3cr3t' in settings)) answers.push(answer.text);
  }
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token);
  for (const path of ['/v1/channels', '/v1/alerts', '/v1/deliveries', '/v1/audience', `${href}/explain`]) {
    answers.push((await acme.read.get(path)).text);
  }
  for (const text of answers) assert.not.match(text, /s3cr3t/);
  assert.not.match(JSON.stringify(context.logged), /s3cr3t/);
});

test('a case cannot touch the channels of another, and a read key changes none', async ({ acme, rival }) => {
  const { id } = ok<WireChannel>(await acme.write.post('/v1/channels', NTFY));
  const path = `/v1/channels/${id}`;
  refused(await rival.write.get(path), 404, 'resource_not_found');
  refused(await rival.write.patch(path, { name: 'x' }), 404, 'resource_not_found');
  refused(await rival.write.delete(path), 404, 'resource_not_found');
  refused(await rival.write.post(`${path}/test`), 404, 'resource_not_found');
  refused(await acme.read.post('/v1/channels', NTFY), 403, 'api_key_forbidden');
  refused(await acme.read.delete(path), 403, 'api_key_forbidden');
});

test('100 webhooks and channels together, however many are asked for at once', async ({ acme }) => {
  const hooks100 = Array.from({ length: 60 }, () =>
    acme.write.post('/v1/webhooks', { url: 'https://x.example/' }),
  );
  const channels = Array.from({ length: 60 }, () => acme.write.post('/v1/channels', SLACK));
  const answers = await Promise.all([...hooks100, ...channels]);
  assert.is(answers.filter(({ status }) => status === 200).length, 100);
  invalidOn(await acme.write.post('/v1/channels', SLACK), 'channels');
});

test('settings that cannot work are refused with the reason', async ({ acme }) => {
  invalidOn(await acme.write.post('/v1/channels'), 'kind');
  invalidOn(await acme.write.post('/v1/channels', { ...NTFY, after: 0.5 }), 'after');
  invalidOn(await acme.write.post('/v1/channels', { ...NTFY, hours: '08:00-18:00' }), 'hours');
  invalid(await acme.write.post('/v1/channels', { kind: 'command', settings: { command: 'page' } }), {
    attribute: 'settings.command',
    message: 'is not under commands in the configuration of the daemon; it has none',
  });
  assert.equal(ok(await acme.read.get('/v1/channels')), []);
  await withFixture({ commands: ['page'] }, async (other) => {
    ok(await other.acme.write.post('/v1/channels', { kind: 'command', settings: { command: 'page' } }));
  });
});

test('a channel at an address that is never called is refused, and one that is there already can be changed', async ({
  acme,
  store,
}) => {
  const settings = { server: 'http://169.254.169.254', topic: 'x' };
  const answer = await acme.write.post('/v1/channels', { kind: 'ntfy', settings });
  invalidOn(answer, 'settings.server');
  const url = 'http://[fe80::1]/hooks/x';
  invalidOn(await acme.write.post('/v1/channels', { kind: 'mattermost', settings: { url } }), 'settings.url');
  const made = ok<WireChannel>(await acme.write.post('/v1/channels', NTFY));
  const path = `/v1/channels/${made.id}`;
  invalidOn(await acme.write.patch(path, { settings: { server: settings.server } }), 'settings.server');
  const { id: caseId } = ok<{ id: string }>(await acme.read.get('/v1/case'));
  await store.updateChannel(caseId, made.id, { settings });
  ok(await acme.write.patch(path, { name: 'old', settings }));
});

test('audience, explanation and alerts name the channels, and why one is passed over', async (context) => {
  const { acme } = context;
  ok(await acme.write.post('/v1/channels', { ...NTFY, name: 'night' }));
  ok(await acme.write.post('/v1/channels', { ...NTFY, name: 'dba', tags: ['db'] }));
  const { channels = [] } = ok<WireAudience>(await acme.read.get('/v1/audience'));
  assert.equal([...channels].sort(), ['dba', 'night']);
  const { token, href } = await newSnitch(acme, { tags: ['web'] });
  await checkIn(context, token, '?s=1');
  const { notify, reasons } = ok<WireExplanation>(await acme.read.get(`${href}/explain`));
  assert.equal(notify.channels, ['night']);
  assert.match(
    reasons.join('\n'),
    'An alarm would not go to the channel dba: it takes only snitches tagged db.',
  );
  assert.match(reasons.join('\n'), 'night by ntfy');
  const [alert] = ok<WireAlert[]>(await acme.read.get(`${href}/alerts`));
  assert.equal(
    alert?.deliveries.map(({ target, channel }) => [target, channel]),
    [['night', 'ntfy']],
  );
});

test.run();
