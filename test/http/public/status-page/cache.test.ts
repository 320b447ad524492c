/** When a page is made again, by a clock that the test moves. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PageCache } from '../../../../src/http/public/status-page/cache.ts';
import { checkIn, type Fixture, hooks, newSnitch } from '../../fixture.ts';
import { put } from './page.ts';

const test = suite<Fixture>('the copies of a status page');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('a change is shown within a second, and without one a page is made seldom', async (context) => {
  const { store, clock, acme, rival } = context;
  const { token } = await newSnitch(acme, { name: 'job', tags: ['public'] });
  await put(context);
  let [now, made] = [1_000_000, 0];
  const counted = {
    ...store,
    quietTimes: (...given: Parameters<typeof store.quietTimes>) => {
      made += 1;
      return store.quietTimes(...given);
    },
  };
  const cache = new PageCache({ store: counted, clock: () => clock.now, monotonic: () => now });
  const well = async () => (await cache.edition('acme'))?.content.counts.well;
  assert.equal([await well(), made], [0, 1]);
  now += 900;
  assert.equal([await well(), made], [0, 1], 'nothing has changed');
  await checkIn(context, token);
  assert.equal([await well(), made], [1, 2], 'it is shown at once where the page was made a while ago');
  for (let count = 0; count < 5; count += 1) await checkIn(context, token, count % 2 === 0 ? '?s=1' : '');
  assert.equal([await well(), made], [1, 2], 'many changes are shown together');
  now += 999;
  assert.equal([await well(), made], [0, 3]);
  const other = await newSnitch(rival, { name: 'other', tags: ['public'] });
  await checkIn(context, other.token);
  now += 999;
  assert.equal([await well(), made], [0, 3], 'the change of another case');
  await checkIn(context, token);
  await checkIn(context, token);
  now += 999;
  assert.equal([await well(), made], [1, 4]);
  await checkIn(context, token);
  now += 999;
  assert.equal([await well(), made], [1, 4], 'an everyday check-in changes nothing on the page');
  now += 5_000;
  assert.equal([await well(), made], [1, 5], 'a period may have ended');
  await Promise.all([well(), well(), well()]);
  assert.is(made, 5);
  await put(context, { password: 'long enough' });
  assert.is.not((await cache.find('acme'))?.page.passwordHash, null, 'closed at once');
  await acme.write.delete('/v1/status_page');
  assert.is(await cache.edition('acme'), null);
});

test.run();
