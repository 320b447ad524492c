/** Snitches that bring their tokens, the check without a change, and the names of the files that keep them. Also on PostgreSQL. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireImportCheck, WireSnitch } from '../../src/api/wire.ts';
import { blank, empty, invalid, invalidOn, malformed, ok, refused } from './expect.ts';
import { CHECK_IN_BASE, checkIn, type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('imports and ownership');
test.before.each(hooks.start);
test.after.each(hooks.close);

const TOKEN = 'c2354d53d2';
const nightly = { name: 'nightly', interval: 'daily' };

test('an imported snitch keeps its token, and its job can check in at once', async (context) => {
  const { acme } = context;
  const snitches = [
    { ...nightly, token: TOKEN, tags: ['db'], notes: 'n', alert_type: 'smart', alert_email: 'a@example.com' },
    { name: 'fresh', interval: 'hourly' },
  ];
  const [kept, fresh] = ok<WireSnitch[]>(await acme.write.post('/v1/imports', { snitches }));
  assert.is(kept?.token, TOKEN);
  assert.is(kept?.check_in_url, `${CHECK_IN_BASE}/${TOKEN}`);
  assert.is(kept?.alert_type, 'smart');
  assert.equal(kept?.alert_email, ['a@example.com']);
  assert.match(fresh?.token ?? '', /^[a-z2-7]{26}$/);
  assert.equal(ok(await acme.read.get('/v1/snitches')), [kept, fresh]);
  await checkIn(context, TOKEN);
  assert.is((await snitchNow(acme, TOKEN)).status, 'healthy');
});

test('POST /v1/snitches goes on ignoring a token', async ({ acme }) => {
  const made = await newSnitch(acme, { token: TOKEN, owner: 'web' });
  assert.is.not(made.token, TOKEN);
  assert.equal(ok(await acme.read.get('/v1/ownership')), []);
});

test('a token that is taken refuses the whole import, whoever has it', async ({ acme, rival }) => {
  ok(await rival.write.post('/v1/imports', { snitches: [{ ...nightly, token: TOKEN }] }));
  const taken = { attribute: 'snitches[1].token', message: 'is taken' };
  const snitches = [nightly, { ...nightly, token: TOKEN }];
  invalid(await acme.write.post('/v1/imports', { snitches }), taken);
  invalid(
    await acme.write.post('/v1/imports', {
      snitches: [
        { ...nightly, token: 'twice-1' },
        { ...nightly, token: 'twice-1' },
      ],
    }),
    taken,
  );
  assert.equal(ok(await acme.read.get('/v1/snitches')), []);
  assert.equal(ok<WireImportCheck>(await acme.write.post('/v1/imports/check', { snitches })).problems, [
    taken,
  ]);
  const own = await rival.write.post('/v1/imports/check', { snitches });
  assert.equal(ok<WireImportCheck>(own).problems, [], 'of its own case it would be changed');
});

test('tokens are bounded, in length and in characters', async ({ acme }) => {
  for (const token of [
    'short',
    'x'.repeat(65),
    'with space',
    'a/bcdef',
    'ümlaut',
    5,
    [],
    {},
    '',
    'healthz',
  ]) {
    invalidOn(
      await acme.write.post('/v1/imports', { snitches: [{ ...nightly, token }] }),
      'snitches[0].token',
    );
  }
  for (const token of ['x'.repeat(64), '-_aZ09', null]) {
    ok(await acme.write.post('/v1/imports', { snitches: [{ ...nightly, token }] }));
  }
});

test('all that is wrong is told at once, with the place of the snitch', async ({ acme }) => {
  const snitches = [nightly, { name: '', interval: 'yearly' }, 'no object', { ...nightly, token: '!' }];
  const answer = await acme.write.post('/v1/imports', { snitches });
  const attributes = ['snitches[1].name', 'snitches[1].interval', 'snitches[2].body', 'snitches[3].token'];
  invalidOn(answer, ...attributes);
  const body = { snitches, case: { timezone: 'Mars/Olympus', members: ['nobody'] } };
  const { problems, room } = ok<WireImportCheck>(await acme.write.post('/v1/imports/check', body));
  assert.equal(
    problems.map(({ attribute }) => attribute),
    ['case.timezone', 'case.members', ...attributes],
  );
  assert.is(room, null);
  assert.equal(ok(await acme.read.get('/v1/snitches')), []);
});

test('the body is bounded and of the right shape', async ({ acme }) => {
  for (const body of [{}, { snitches: {} }, { snitches: [] }]) {
    invalidOn(await acme.write.post('/v1/imports', body), 'snitches');
  }
  invalidOn(await acme.write.post('/v1/imports', { snitches: Array(501).fill(nightly) }), 'snitches');
  for (const owner of ['', 'a\nb', 'x'.repeat(101), 5]) {
    invalidOn(await acme.write.post('/v1/imports', { snitches: [nightly], owner }), 'owner');
  }
  malformed(await acme.write.ask('POST', '/v1/imports', { body: '{' }));
  invalidOn(await acme.write.put('/v1/ownership', { owner: 'web', tokens: [] }), 'tokens');
  invalidOn(await acme.write.put('/v1/ownership', { owner: 'web', tokens: Array(501).fill('x') }), 'tokens');
  invalidOn(await acme.write.put('/v1/ownership', { tokens: ['x'], owner: ' ' }), 'owner');
  invalid(await acme.write.put('/v1/ownership', { tokens: 'x', owner: '' }), blank('owner'), {
    attribute: 'tokens',
    message: 'must be an array of tokens',
  });
});

test('the plan limit holds for imports, which are made wholly or not at all', async ({ acme, admin }) => {
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 2 }));
  await newSnitch(acme);
  const answer = await acme.write.post('/v1/imports', { snitches: [nightly, nightly] });
  refused(answer, 402, 'plan_limit_reached');
  assert.is(ok<WireSnitch[]>(await acme.read.get('/v1/snitches')).length, 1);
  assert.is(ok<WireImportCheck>(await acme.read.post('/v1/imports/check', {})).room, 1);
});

test('the check answers with what would be kept, in its normal form', async ({ acme }) => {
  const given = { ...nightly, token: null, tags: ['a', ' ', 'a'], alert_email: 'a@b.example, c@d.example' };
  const body = { snitches: [given], case: { members: 'ann@example.com', max_snitches: 3 } };
  assert.equal(ok(await acme.read.post('/v1/imports/check', body)), {
    snitches: [
      {
        ...nightly,
        token: null,
        alert_type: 'basic',
        alert_email: ['a@b.example', 'c@d.example'],
        notes: '',
        tags: ['a'],
        schedule: null,
        timezone: null,
        grace: null,
        max_runtime: null,
        min_runtime: null,
        failures_before_alert: 1,
        expect: null,
        needs: [],
        public_name: null,
      },
    ],
    case: { members: ['ann@example.com'] },
    problems: [],
    room: null,
  });
});

test('a key that may only read may check, and change nothing', async ({ acme, admin }) => {
  ok(await acme.read.post('/v1/imports/check', { snitches: [nightly] }));
  refused(await acme.read.post('/v1/imports', { snitches: [nightly] }), 403, 'api_key_forbidden');
  refused(await acme.read.put('/v1/ownership', { owner: null, tokens: ['x'] }), 403, 'api_key_forbidden');
  refused(await admin.post('/v1/imports/check', {}), 403, 'api_key_forbidden');
});

test('an owner is given, kept, freed, and gone with its snitch', async ({ acme }) => {
  const { token, href } = await newSnitch(acme);
  const [made] = ok<WireSnitch[]>(
    await acme.write.post('/v1/imports', { snitches: [nightly], owner: 'web' }),
  );
  assert.equal(ok(await acme.read.get('/v1/ownership')), [{ token: made?.token, owner: 'web' }]);
  empty(await acme.write.put('/v1/ownership', { owner: 'web', tokens: [token, made?.token] }));
  ok(await acme.write.patch(href, { name: 'renamed', owner: 'other' }));
  assert.equal(ok(await acme.read.get('/v1/ownership')), [
    { token, owner: 'web' },
    { token: made?.token, owner: 'web' },
  ]);
  invalidOn(await acme.write.put('/v1/ownership', { owner: 'db', tokens: [token] }), 'owner');
  empty(await acme.write.put('/v1/ownership', { owner: null, tokens: [token] }));
  empty(await acme.write.put('/v1/ownership', { owner: 'db', tokens: [token] }));
  empty(await acme.write.delete(href));
  assert.equal(ok(await acme.read.get('/v1/ownership')), [{ token: made?.token, owner: 'web' }]);
});

test('a case sees and sets only its own', async ({ acme, rival }) => {
  const theirs = await newSnitch(rival);
  const ours = await newSnitch(acme);
  empty(await rival.write.put('/v1/ownership', { owner: 'web', tokens: [theirs.token] }));
  const tokens = [ours.token, theirs.token];
  refused(await acme.write.put('/v1/ownership', { owner: 'mine', tokens }), 404, 'resource_not_found');
  refused(await acme.write.put('/v1/ownership', { owner: null, tokens }), 404, 'resource_not_found');
  assert.equal(ok(await acme.read.get('/v1/ownership')), []);
  assert.equal(ok(await rival.read.get('/v1/ownership')), [{ token: theirs.token, owner: 'web' }]);
});

test.run();
