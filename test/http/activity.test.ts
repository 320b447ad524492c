/** `GET /v1/log`: every route that changes something is logged with who did it, and without secrets. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireLogEntry } from '../../src/api/log.ts';
import type { WireApiKey, WireCase, WireDelivery, WireSnitch, WireWebhook } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { Answer, Client } from './client.ts';
import { empty, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, MINUTE, newSnitch, type Team } from './fixture.ts';

const test = suite<Fixture>('who did what');
test.before.each(hooks.start);
test.after.each(hooks.close);

const HOST = 'hooks.example.com';
const SECRET_URL = `https://user:url-password@${HOST}/services/path-secret?token=query-secret`;
const NTFY = { kind: 'ntfy', settings: { topic: 'ops', token: 'tk_settings_secret' } };

const logOf = async ({ read }: Pick<Team, 'read'>, query = '') =>
  ok<WireLogEntry[]>(await read.get(`/v1/log?limit=1000${query}`));
const serverLog = async ({ admin }: Fixture) => ok<WireLogEntry[]>(await admin.get('/v1/log?limit=1000'));

/** What `deed` adds to the log of the case, oldest first. */
async function newIn(context: Fixture, deed: () => Promise<unknown>): Promise<WireLogEntry[]> {
  const [before] = await logOf(context.acme);
  await deed();
  const after = await logOf(context.acme);
  return after.filter(({ id }) => Number(id) > Number(before?.id ?? 0)).reverse();
}

const healthy = async (context: Fixture, fields: object = {}) => {
  const snitch = await newSnitch(context.acme, { ...fields });
  await checkIn(context, snitch.token);
  return snitch;
};
const errored = async (context: Fixture) => {
  const snitch = await newSnitch(context.acme);
  await checkIn(context, snitch.token, '?s=1');
  return snitch;
};
const webhook = async ({ acme }: Fixture) =>
  ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url: SECRET_URL }));
const channel = async ({ acme }: Fixture) => ok<{ id: string }>(await acme.write.post('/v1/channels', NTFY));
const secondKey = async ({ acme }: Fixture) =>
  ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'second', scope: 'read' }));

/** Creates what a route needs. @returns a function that calls the route */
type Deed = (context: Fixture) => Promise<() => Promise<Answer>>;

interface Expected {
  deed: Deed;
  /** What it adds to the log of the case. */
  logs?: string[];
  /** What it adds to that of the server. */
  server?: string[];
}

const inCase = (action: string, deed: Deed): Expected => ({ deed, logs: [action] });

/** Every route with a method other than GET; one that changes nothing has the reason instead. */
const DEEDS: Record<string, Expected | string> = {
  'POST /v1/snitches': inCase(
    'snitch.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/snitches', { name: 'made', interval: 'daily' }),
  ),
  'PATCH /v1/snitches/{token}': inCase('snitch.changed', async ({ acme }) => {
    const { href } = await newSnitch(acme);
    return () => acme.write.patch(href, { interval: 'daily' });
  }),
  'DELETE /v1/snitches/{token}': inCase('snitch.deleted', async ({ acme }) => {
    const { href } = await newSnitch(acme);
    return () => acme.write.delete(href);
  }),
  'POST /v1/snitches/{token}/tags': inCase('snitch.changed', async ({ acme }) => {
    const { href } = await newSnitch(acme);
    return () => acme.write.post(`${href}/tags`, ['db']);
  }),
  'DELETE /v1/snitches/{token}/tags/{tag}': inCase('snitch.changed', async ({ acme }) => {
    const { href } = await newSnitch(acme, { tags: ['db'] });
    return () => acme.write.delete(`${href}/tags/db`);
  }),
  'POST /v1/snitches/{token}/pause': inCase('snitch.paused', async (context) => {
    const { href } = await healthy(context);
    return () => context.acme.write.post(`${href}/pause`);
  }),
  'POST /v1/snitches/{token}/unpause': inCase('snitch.unpaused', async (context) => {
    const { href } = await healthy(context);
    empty(await context.acme.write.post(`${href}/pause`));
    return () => context.acme.write.post(`${href}/unpause`);
  }),
  'POST /v1/snitches/{token}/acknowledge': inCase('snitch.acknowledged', async (context) => {
    const { href } = await errored(context);
    return () => context.acme.write.post(`${href}/acknowledge`, { note: 'on it' });
  }),
  'DELETE /v1/snitches/{token}/acknowledge': inCase('snitch.unacknowledged', async (context) => {
    const { href } = await errored(context);
    ok(await context.acme.write.post(`${href}/acknowledge`));
    return () => context.acme.write.delete(`${href}/acknowledge`);
  }),
  'PUT /v1/status_page': inCase(
    'status_page.created',
    async ({ acme }) =>
      () =>
        acme.write.put('/v1/status_page', { slug: 'acme', tags: ['*'] }),
  ),
  'DELETE /v1/status_page': inCase('status_page.deleted', async ({ acme }) => {
    ok(await acme.write.put('/v1/status_page', { slug: 'acme', tags: ['*'] }));
    return () => acme.write.delete('/v1/status_page');
  }),
  'POST /v1/silences': inCase(
    'silence.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/silences', { all: true, duration: 600, note: 'kernel' }),
  ),
  'PATCH /v1/silences/{id}': inCase('silence.changed', async ({ acme }) => {
    const { id } = ok<{ id: string }>(await acme.write.post('/v1/silences', { tags: ['db'], duration: 600 }));
    return () => acme.write.patch(`/v1/silences/${id}`, { note: 'longer' });
  }),
  'DELETE /v1/silences/{id}': inCase('silence.deleted', async (context) => {
    const { token } = await healthy(context);
    const { id } = ok<{ id: string }>(
      await context.acme.write.post('/v1/silences', { tokens: [token], duration: 600 }),
    );
    return () => context.acme.write.delete(`/v1/silences/${id}`);
  }),
  'POST /v1/badges': inCase(
    'badge.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/badges', { tag: 'web' }),
  ),
  'DELETE /v1/badges/{id}': inCase('badge.deleted', async (context) => {
    const { token } = await healthy(context);
    const { id } = ok<{ id: string }>(await context.acme.write.post('/v1/badges', { token }));
    return () => context.acme.write.delete(`/v1/badges/${id}`);
  }),
  'POST /v1/imports': inCase(
    'snitches.imported',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/imports', {
          owner: 'web',
          snitches: [
            { name: 'one', interval: 'daily' },
            { name: 'two', interval: 'daily' },
          ],
        }),
  ),
  'PATCH /v1/imports': {
    logs: ['snitch.changed', 'snitch.changed'],
    deed: async ({ acme }) => {
      const snitches = [await newSnitch(acme), await newSnitch(acme)];
      return () =>
        acme.write.patch('/v1/imports', { snitches: snitches.map(({ token }) => ({ token, name: 'new' })) });
    },
  },
  'POST /v1/imports/delete': {
    logs: ['snitch.deleted', 'snitch.deleted'],
    deed: async ({ acme }) => {
      const tokens = [(await newSnitch(acme)).token, (await newSnitch(acme)).token];
      return () => acme.write.post('/v1/imports/delete', { tokens });
    },
  },
  'PUT /v1/ownership': inCase('snitches.owned', async ({ acme }) => {
    const tokens = [(await newSnitch(acme)).token, (await newSnitch(acme)).token];
    return () => acme.write.put('/v1/ownership', { tokens, owner: 'web' });
  }),
  'PATCH /v1/case': inCase(
    'case.changed',
    async ({ acme }) =>
      () =>
        acme.write.patch('/v1/case', { members: ['ops@example.com'] }),
  ),
  'POST /v1/webhooks': inCase(
    'webhook.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/webhooks', { url: SECRET_URL }),
  ),
  'DELETE /v1/webhooks/{id}': inCase('webhook.deleted', async (context) => {
    const { id } = await webhook(context);
    return () => context.acme.write.delete(`/v1/webhooks/${id}`);
  }),
  'POST /v1/webhooks/{id}/test': inCase('webhook.tested', async (context) => {
    const { id } = await webhook(context);
    return () => context.acme.write.post(`/v1/webhooks/${id}/test`);
  }),
  'POST /v1/webhooks/{id}/rotate_secret': inCase('webhook.secret_changed', async (context) => {
    const { id } = await webhook(context);
    return () => context.acme.write.post(`/v1/webhooks/${id}/rotate_secret`);
  }),
  'POST /v1/channels': inCase(
    'channel.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/channels', NTFY),
  ),
  'PATCH /v1/channels/{id}': inCase('channel.changed', async (context) => {
    const { id } = await channel(context);
    const settings = { ...NTFY.settings, token: 'tk_another_secret' };
    return () => context.acme.write.patch(`/v1/channels/${id}`, { settings });
  }),
  'DELETE /v1/channels/{id}': inCase('channel.deleted', async (context) => {
    const { id } = await channel(context);
    return () => context.acme.write.delete(`/v1/channels/${id}`);
  }),
  'POST /v1/channels/{id}/test': inCase('channel.tested', async (context) => {
    const { id } = await channel(context);
    return () => context.acme.write.post(`/v1/channels/${id}/test`);
  }),
  'POST /v1/api_keys': inCase(
    'key.created',
    async ({ acme }) =>
      () =>
        acme.write.post('/v1/api_keys', { name: 'ops-key', scope: 'read' }),
  ),
  'DELETE /v1/api_keys/{id}': inCase('key.deleted', async (context) => {
    const { id } = await secondKey(context);
    return () => context.acme.write.delete(`/v1/api_keys/${id}`);
  }),
  'POST /v1/deliveries/{id}/retry': inCase('delivery.retried', async (context) => {
    const { id } = await webhook(context);
    const { write } = context.acme;
    const delivery = ok<WireDelivery>(await write.post(`/v1/webhooks/${id}/test`));
    return () => write.post(`/v1/deliveries/${delivery.id}/retry`);
  }),
  'POST /v1/cases': {
    server: ['case.created'],
    deed:
      async ({ admin }) =>
      () =>
        admin.post('/v1/cases', { name: 'Third' }),
  },
  'PATCH /v1/cases/{id}': inCase(
    'case.changed',
    async ({ acme, admin }) =>
      () =>
        admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 100 }),
  ),
  'DELETE /v1/cases/{id}': {
    server: ['case.deleted'],
    deed: async ({ admin }) => {
      const { id } = ok<WireCase>(await admin.post('/v1/cases', { name: 'Short-lived' }));
      return () => admin.delete(`/v1/cases/${id}`);
    },
  },
  'POST /v1/cases/{id}/api_keys': inCase(
    'key.created',
    async ({ acme, admin }) =>
      () =>
        admin.post(`/v1/cases/${acme.id}/api_keys`, { name: 'by the admin' }),
  ),
  'PUT /v1/maintenance': {
    server: ['maintenance.began'],
    deed:
      async ({ admin }) =>
      () =>
        admin.put('/v1/maintenance', { enabled: true }),
  },
  'POST /v1/imports/check': 'looks whether an import would work',
  'POST /v1/schedules/check': 'looks at a schedule that is not kept',
  'POST /v1/checks/mail': 'looks whether the mail server answers',
};

test('every route that is no GET is known here, and what it does is found in the log', async (context) => {
  const { paths } = (await context.nobody.get('/openapi.json')).json<{
    paths: Record<string, Record<string, unknown>>;
  }>();
  const routes = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((route) => /^(POST|PUT|PATCH|DELETE) /.test(route));
  assert.equal(Object.keys(DEEDS).toSorted(), routes.toSorted());
});

for (const [route, expected] of Object.entries(DEEDS)) {
  if (typeof expected === 'string') continue;
  const { deed, logs = [], server = [] } = expected;
  test(`${route} is logged, once, with the key that did it`, async (context) => {
    const act = await deed(context);
    const before = await serverLog(context);
    const entries = await newIn(context, async () => {
      const { status, text } = await act();
      assert.ok(status === 200 || status === 204, `${status} ${text}`);
      // The log can be read only afterwards.
      if (route === 'PUT /v1/maintenance') ok(await context.admin.put('/v1/maintenance', { enabled: false }));
    });
    assert.equal(
      entries.map(({ action }) => action),
      logs,
    );
    const known = new Set(before.map(({ id }) => id));
    const ofServer = (await serverLog(context)).filter(({ id }) => !known.has(id)).reverse();
    const expectedOfServer = route === 'PUT /v1/maintenance' ? [...server, 'maintenance.ended'] : server;
    assert.equal(
      ofServer.map(({ action }) => action),
      expectedOfServer,
    );
    for (const { at, by, subject } of [...entries, ...ofServer]) {
      assert.is(Date.parse(at), context.clock.now);
      assert.ok(by.name === 'write key' || by.name === 'admin key', by.name);
      assert.match(by.key ?? '', /^key_/);
      assert.ok(subject.name.length > 0);
    }
  });
}

test('two keys are told apart, and an entry keeps the name of a key that is gone', async (context) => {
  const { acme, admin, clock } = context;
  const ops = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'ops-key' }));
  const snitch = await healthy(context);
  const until = new Date(clock.now + 60 * MINUTE).toISOString();
  const authorization = `Basic ${Buffer.from(`${ops.key}:`).toString('base64')}`;
  const paused = await context.nobody.ask('POST', `${snitch.href}/pause`, {
    json: { until },
    headers: { authorization },
  });
  empty(paused);
  clock.now += MINUTE;
  ok(await acme.write.patch(snitch.href, { name: 'weekly-backup' }));
  empty(await acme.write.delete(`/v1/api_keys/${ops.id}`));
  const [renamed, pausing, made] = await logOf(acme, `&token=${snitch.token}`);
  assert.is(made?.action, 'snitch.created');
  assert.equal(pausing?.by, { key: ops.id, name: 'ops-key' });
  assert.equal(pausing?.subject, { id: snitch.token, name: 'nightly-backup' });
  assert.equal(pausing?.details, { until });
  assert.is(renamed?.by.name, 'write key');
  assert.equal(renamed?.details, { changes: { name: { from: 'nightly-backup', to: 'weekly-backup' } } });
  const { reasons, paused: pause } = ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`));
  assert.equal(pause, { until, by: { name: 'ops-key', at: pausing?.at } });
  assert.ok(
    reasons.some((reason) => /^ops-key paused it at 2026-11-18 10:20/.test(reason)),
    reasons.join(' '),
  );
  assert.ok(admin.key !== null);
});

test('it says who paused a snitch, however long the request took', async (context) => {
  const { acme, clock } = context;
  const { href } = await healthy(context);
  let now = clock.now;
  Object.defineProperty(clock, 'now', { configurable: true, get: () => ++now });
  empty(await acme.write.post(`${href}/pause`, { until: 'unpaused' }));
  const { reasons } = ok<WireExplanation>(await acme.read.get(`${href}/explain`));
  assert.ok(
    reasons.some((reason) => reason.startsWith('write key paused it at ')),
    reasons.join(' '),
  );
});

test('details of a pause do not come from an earlier one', async (context) => {
  const { acme, clock } = context;
  const snitch = await healthy(context);
  empty(await acme.write.post(`${snitch.href}/pause`));
  const named = async () =>
    ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`)).reasons.filter((reason) =>
      reason.includes('paused it'),
    );
  assert.is((await named()).length, 1);
  clock.now += MINUTE;
  empty(await acme.write.post(`${snitch.href}/unpause`));
  assert.equal(await named(), []);
  assert.is(ok<WireExplanation>(await acme.read.get(`${snitch.href}/explain`)).paused, null);
});

test('requests that change nothing are not logged', async (context) => {
  const { acme, admin } = context;
  const { write } = acme;
  const snitch = await healthy(context, { tags: ['db'], schedule: { cron: '0 3 * * *' } });
  const { id } = await channel(context);
  const own = ok<WireCase>(await write.get('/v1/case'));
  empty(await write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
  ok(await admin.put('/v1/maintenance', { enabled: false }));
  const onServer = (await serverLog(context)).length;
  const entries = await newIn(context, async () => {
    const whole = ok<WireSnitch>(await write.get(snitch.href));
    ok(await write.patch(snitch.href, whole));
    ok(await write.patch(snitch.href, {}));
    ok(await write.patch('/v1/imports', { snitches: [whole] }));
    ok(await write.post(`${snitch.href}/tags`, ['db']));
    ok(await write.delete(`${snitch.href}/tags/unknown`));
    empty(await write.post(`${snitch.href}/pause`, { until: 'unpaused' }));
    ok(await write.patch('/v1/case', own));
    ok(await write.patch(`/v1/channels/${id}`, ok<object>(await write.get(`/v1/channels/${id}`))));
    empty(await write.post('/v1/imports/delete', { tokens: ['unknown'] }));
    empty(await write.put('/v1/ownership', { tokens: [snitch.token], owner: null }));
    assert.is((await write.delete('/v1/webhooks/hook_unknown')).status, 404);
    assert.is((await write.delete('/v1/channels/chan_unknown')).status, 404);
    assert.is((await write.delete('/v1/api_keys/key_unknown')).status, 404);
    assert.is((await write.patch(snitch.href, { interval: 'never' })).status, 422);
    const other = await newSnitch(context.rival);
    assert.is((await write.delete(other.href)).status, 404);
    empty(await write.post(`${snitch.href}/unpause`));
    empty(await write.post(`${snitch.href}/unpause`));
    await checkIn(context, snitch.token);
  });
  assert.equal(
    entries.map(({ action }) => action),
    ['snitch.unpaused'],
  );
  ok(await admin.put('/v1/maintenance', { enabled: false }));
  assert.is((await serverLog(context)).length, onServer);
});

test('a pause that lasts until another time is an entry of its own', async (context) => {
  const { acme, clock } = context;
  const { href, token } = await healthy(context);
  for (const minutes of [10, 20, 20]) {
    const until = new Date(clock.now + minutes * MINUTE).toISOString();
    empty(await acme.write.post(`${href}/pause`, { until }));
  }
  assert.is((await logOf(acme, `&token=${token}&action=snitch.paused`)).length, 2);
});

test('a first check-in by a provisioning key is an entry, and no check-in after it', async (context) => {
  const { acme, nobody } = context;
  const { key } = ok<WireApiKey>(
    await acme.write.post('/v1/api_keys', { name: 'hosts', scope: 'provision' }),
  );
  const entries = await newIn(context, async () => {
    for (let time = 0; time < 5; time += 1) {
      assert.ok((await nobody.get(`/c/${key}/job?create=1&interval=daily`)).status < 300);
    }
  });
  assert.equal(
    entries.map(({ action, by, subject }) => [action, by.name, subject.name]),
    [['snitch.created', 'hosts', 'job']],
  );
});

test('no secret is in an answer, nor anywhere in the table', async (context) => {
  const { acme, store } = context;
  const keys: string[] = [];
  for (const expected of Object.values(DEEDS)) {
    if (typeof expected === 'string' || expected.server) continue;
    const { text } = await (await expected.deed(context))();
    keys.push(...text.matchAll(/"(?:key|secret)":"([^"]+)"/g).map(([, secret]) => secret ?? ''));
  }
  const { href } = await newSnitch(acme, { notes: 'the password is notes-secret' });
  ok(await acme.write.patch(href, { notes: 'now it is notes-secret-too' }));
  assert.ok(keys.length >= 4, 'keys and secrets were made');
  const answers = JSON.stringify([await logOf(acme), await serverLog(context)]);
  const table = JSON.stringify([
    await store.listActivity(acme.id, { subjectId: null, action: null, limit: 1_000, before: null }),
  ]);
  const known = [acme.write.key ?? '', acme.read.key ?? '', context.admin.key ?? '', ...keys];
  const words = [
    'url-password',
    'path-secret',
    'query-secret',
    'settings_secret',
    'another_secret',
    'notes-secret',
  ];
  for (const secret of [...known, ...words]) {
    assert.not.match(answers, secret);
    assert.not.match(table, secret);
  }
  assert.match(answers, HOST);
  assert.match(answers, 'settings.token');
});

test('the log of a case is its own, and read keys see it', async (context) => {
  const { acme, rival, admin, nobody } = context;
  await newSnitch(acme, { name: 'of acme' });
  const provision = ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: 'p', scope: 'provision' }));
  assert.ok((await logOf(acme)).some(({ subject }) => subject.name === 'of acme'));
  assert.not.ok((await logOf(rival)).some(({ subject }) => subject.name === 'of acme'));
  assert.not.ok(
    ok<WireLogEntry[]>(await admin.get('/v1/log')).some(({ subject }) => subject.name === 'of acme'),
  );
  refused(await nobody.get('/v1/log'), 401, 'api_key_invalid');
  const authorization = `Basic ${Buffer.from(`${provision.key}:`).toString('base64')}`;
  refused(await nobody.ask('GET', '/v1/log', { headers: { authorization } }), 403, 'api_key_forbidden');
  assert.is((await acme.write.post('/v1/log', {})).status, 405);
});

test('it comes in pages, by ids and by times, of one snitch or one action', async (context) => {
  const { acme, clock } = context;
  const { href, token } = await newSnitch(acme);
  for (let round = 0; round < 25; round += 1) {
    clock.now += MINUTE;
    ok(await acme.write.patch(href, { notes: `${round}` }));
  }
  await newSnitch(acme, { name: 'another' });
  const paged: WireLogEntry[] = [];
  for (let before = ''; ; before = `&before=${paged.at(-1)?.id}`) {
    const page = ok<WireLogEntry[]>(await acme.read.get(`/v1/log?limit=7&token=${token}${before}`));
    paged.push(...page);
    if (page.length < 7) break;
  }
  assert.is(paged.length, 26);
  assert.is(new Set(paged.map(({ id }) => id)).size, 26);
  assert.equal(paged, await logOf(acme, `&token=${token}`));
  assert.is((await logOf(acme, `&token=${token}&action=snitch.created`)).length, 1);
  const noon = new Date(clock.now - 10 * MINUTE).toISOString();
  const earlier = await logOf(acme, `&token=${token}&before=${noon}`);
  assert.is(earlier.length, 15);
  assert.ok(earlier.every(({ at }) => at < noon));
  invalidOn(await acme.read.get('/v1/log?action=snitch.eaten'), 'action');
  invalidOn(await acme.read.get('/v1/log?limit=0'), 'limit');
  invalidOn(await acme.read.get('/v1/log?before=yesterday'), 'before');
  assert.equal(await logOf(acme, '&token=unknown'), []);
});

test('a deleted snitch is read under its name', async (context) => {
  const { acme } = context;
  const { href, token } = await newSnitch(acme, { name: 'gone' });
  empty(await acme.write.delete(href));
  const [deleted, made] = await logOf(acme, `&token=${token}`);
  assert.equal([deleted?.action, deleted?.subject], ['snitch.deleted', { id: token, name: 'gone' }]);
  assert.is(made?.subject.name, 'gone');
});

test('200 changes at once are 200 entries, each with its own key', async (context) => {
  const { acme, nobody } = context;
  const keys: WireApiKey[] = [];
  for (let each = 0; each < 4; each += 1) {
    keys.push(ok<WireApiKey>(await acme.write.post('/v1/api_keys', { name: `key ${each}` })));
  }
  const snitches: WireSnitch[] = [];
  for (let each = 0; each < 200; each += 1) snitches.push(await newSnitch(acme, { name: `job ${each}` }));
  const change = ({ href }: WireSnitch, index: number) => {
    const authorization = `Basic ${Buffer.from(`${keys[index % 4]?.key}:`).toString('base64')}`;
    return nobody.ask('PATCH', href, { json: { name: `new ${index}` }, headers: { authorization } });
  };
  const entries = await newIn(context, async () => {
    for (const answer of await Promise.all(snitches.map(change))) ok(answer);
  });
  assert.is(entries.length, 200);
  for (const [index, { token }] of snitches.entries()) {
    const entry = entries.find(({ subject }) => subject.id === token);
    assert.equal(
      [entry?.by.name, entry?.details.changes],
      [`key ${index % 4}`, { name: { from: `job ${index}`, to: `new ${index}` } }],
    );
  }
});

test('a key that may only read changes nothing, and nothing is logged', async (context) => {
  const { href } = await newSnitch(context.acme);
  const reader: Client = context.acme.read;
  const entries = await newIn(context, async () => {
    refused(await reader.delete(href), 403, 'api_key_forbidden');
    refused(await reader.patch(href, { name: 'x' }), 403, 'api_key_forbidden');
  });
  assert.equal(entries, []);
});

test.run();
