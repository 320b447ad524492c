/** `needs` and `held` of a snitch over the API. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { invalid, ok } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch } from './fixture.ts';

const test = suite<Fixture>('needs over the API');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('they are kept in their order, by list or by text, and null or an empty list clears them', async ({
  acme,
}) => {
  const host = await newSnitch(acme, { name: 'db1' });
  const job = await newSnitch(acme, { name: 'job', needs: [` ${host.token} `, 'tag: net', ''] });
  assert.equal([job.needs, job.held], [[host.token, 'tag:net'], null]);
  const patch = async (needs: unknown) =>
    ok<WireSnitch>(await acme.write.patch(`/v1/snitches/${job.token}`, { needs })).needs;
  assert.equal(await patch(`tag:a,${host.token}`), ['tag:a', host.token]);
  assert.equal(ok<WireSnitch>(await acme.write.patch(`/v1/snitches/${job.token}`, { notes: 'n' })).needs, [
    'tag:a',
    host.token,
  ]);
  assert.equal(await patch(null), []);
  for (const longest of ['x'.repeat(100), '🧨'.repeat(100)]) {
    assert.equal(await patch([`tag:${longest}`]), [`tag:${longest}`]);
  }
  assert.equal(await patch([]), []);
});

test('what cannot be needed is 422 on needs', async ({ acme }) => {
  const job = await newSnitch(acme, { name: 'job', tags: ['jobs'] });
  const cases: [unknown, string][] = [
    [7, 'must be a list of tokens or of tag:<tag>'],
    [[7], 'must be a list of tokens or of tag:<tag>'],
    [['tag:'], 'names a tag without saying which: write tag:<tag>'],
    [['tag:a', 'tag:a'], 'names tag:a twice'],
    [Array.from({ length: 11 }, (_, index) => `tag:${index}`), 'has too many (maximum is 10)'],
    [['x'.repeat(105)], 'has an entry that is not a token'],
    [[`tag:${'🧨'.repeat(101)}`], 'has an entry that is not a token'],
    [['a\u0000b'], 'has an entry that is not a token'],
    [['tag:\ud800'], 'has an entry that is not well-formed Unicode'],
    [[job.token], 'would go in a circle: job needs job'],
    [['tag:jobs'], 'would go in a circle: job needs job (tag:jobs)'],
    [['nothing'], 'names nothing, which is the token of no snitch of this case (write tag:<tag> for a tag)'],
  ];
  for (const [needs, message] of cases) {
    const answer = await acme.write.patch(`/v1/snitches/${job.token}`, { needs });
    invalid(answer, { attribute: 'needs', message });
  }
});

test('a held alert is shown by get, list and explain', async (context) => {
  const { acme, store, clock } = context;
  const due = { schedule: { every: 60 }, grace: 0, interval: undefined };
  const host = await newSnitch(acme, { name: 'db1', ...due });
  const job = await newSnitch(acme, { name: 'job', needs: [host.token], ...due });
  for (const { token } of [host, job]) await checkIn(context, token);
  clock.now += 60_000;
  await store.applyDue(clock.now, null, 100);
  const shown = ok<WireSnitch>(await acme.read.get(`/v1/snitches/${job.token}`));
  const since = new Date(clock.now).toISOString();
  const held = { by: { token: host.token, name: 'db1' }, since, until: null };
  assert.equal([shown.status, shown.held, shown.missing_since], ['failed', held, since]);
  const listed = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
  assert.equal(
    listed.find(({ token }) => token === job.token),
    shown,
  );
  const explained = ok<WireExplanation>(await acme.read.get(`/v1/snitches/${job.token}/explain`));
  assert.equal([explained.held, explained.next_alert], [held, null]);
  assert.ok(
    explained.reasons.some((reason) =>
      /^Its alert has been held since .+, and nobody was told of it, because db1 is down: it is sent when/.test(
        reason,
      ),
    ),
    explained.reasons.join('\n'),
  );
  assert.not(explained.reasons.some((reason) => /reminder/.test(reason)));
});

test.run();
