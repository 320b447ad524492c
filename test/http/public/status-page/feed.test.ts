/** What the feed of a status page tells of planned work. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ok } from '../../expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch } from '../../fixture.ts';
import { put } from './page.ts';

const test = suite<Fixture>('the feed of the status page');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** Newest first. Asks at a new address, so that nothing is taken from the cache. */
async function titles(context: Fixture, slug: string): Promise<string[]> {
  await put(context, { slug });
  const { text } = await context.nobody.get(`/s/${slug}/feed.xml`);
  return [...text.matchAll(/<entry>\s*<id>.*?<\/id>\s*<title>(.*?)<\/title>/g)].map(
    ([, title = '']) => title,
  );
}

test('an outage that was told ends in the feed, even during planned work', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { name: 'etl', tags: ['public'] });
  await checkIn(context, token);
  await put(context);
  clock.now += MINUTE;
  await checkIn(context, token, '?s=1');
  clock.now += MINUTE;
  ok(await acme.write.post('/v1/silences', { tokens: [token], duration: HOUR / 1_000 }));
  clock.now += MINUTE;
  await checkIn(context, token);
  assert.equal(await titles(context, 'told'), ['etl is well again', 'etl reported an error']);
  // What begins and ends in it concerns nobody.
  for (const outcome of ['?s=1', '']) {
    clock.now += MINUTE;
    await checkIn(context, token, outcome);
  }
  assert.equal(await titles(context, 'untold'), ['etl is well again', 'etl reported an error']);
});

test('an outage that began in planned work is told when that ends, if it still lasts', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { name: 'etl', tags: ['public'] });
  const { token: other } = await newSnitch(acme, { name: 'web', tags: ['public'] });
  await checkIn(context, token);
  await checkIn(context, other);
  await put(context);
  ok(await acme.write.post('/v1/silences', { all: true, duration: HOUR / 1_000 }));
  const end = clock.now + HOUR;
  clock.now += MINUTE;
  await checkIn(context, other, '?s=1');
  await checkIn(context, token, '?s=1');
  clock.now += MINUTE;
  await checkIn(context, other);
  assert.equal(await titles(context, 'during'), []);
  clock.now = end;
  assert.equal(await titles(context, 'behind'), ['etl reported an error']);
  const { text } = await context.nobody.get('/s/behind/feed.xml');
  assert.match(text, `<updated>${new Date(end).toISOString()}</updated>`);
  assert.match(text, 'etl reported an error as of 18 Nov 2026, 10:21');
  clock.now += MINUTE;
  await checkIn(context, token);
  assert.equal(await titles(context, 'over'), ['etl is well again', 'etl reported an error']);
});

test.run();
