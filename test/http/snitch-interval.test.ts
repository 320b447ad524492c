/** The older form of the interval, `{"type": {"interval": …}}` (`decisions: Second form of interval`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { blank, invalid, ok } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('the second form of interval');
test.before.each(hooks.start);
test.after.each(hooks.close);

const invalidInterval = { attribute: 'interval', message: 'is not a valid interval' };

/** What a client sends of an interval, and the interval that is meant. */
const MEANT: [Record<string, unknown>, string][] = [
  [{ type: { interval: 'weekly' } }, 'weekly'],
  [{ interval: 'weekly' }, 'weekly'],
  [{ interval: 'weekly', type: { interval: 'monthly' } }, 'weekly'],
  [{ interval: 'weekly', type: { interval: '' } }, 'weekly'],
  [{ interval: 'weekly', type: { interval: '  ' } }, 'weekly'],
  [{ interval: 'weekly', type: { interval: null } }, 'weekly'],
  [{ interval: 'weekly', type: { interval: 'never' } }, 'weekly'],
  [{ interval: 'weekly', type: {} }, 'weekly'],
  [{ interval: 'weekly', type: null }, 'weekly'],
  [{ interval: 'weekly', type: 'monthly' }, 'weekly'],
  [{ interval: '', type: { interval: 'monthly' } }, 'monthly'],
  [{ interval: ' ', type: { interval: 'monthly' } }, 'monthly'],
  [{ interval: null, type: { interval: 'monthly' } }, 'monthly'],
];

const REFUSED: [Record<string, unknown>, { attribute: string; message: string }][] = [
  [{ type: { interval: 'never' } }, invalidInterval],
  [{ interval: '', type: { interval: 'never' } }, invalidInterval],
  [{ interval: 'never', type: { interval: 'daily' } }, invalidInterval],
  [{ type: { interval: '' } }, blank('interval')],
  [{ type: { interval: null } }, blank('interval')],
  [{ interval: '', type: { interval: '' } }, blank('interval')],
  [{ interval: null, type: { interval: ' ' } }, blank('interval')],
];

test('create takes either form; a top-level interval that is not blank wins', async ({ acme }) => {
  for (const [given, interval] of MEANT) {
    const created = ok<WireSnitch>(await acme.write.post('/v1/snitches', { name: 'n', ...given }));
    assert.is(created.interval, interval, JSON.stringify(given));
    assert.equal(created.type, { interval });
  }
});

test('update takes either form; a top-level interval that is not blank wins', async ({ acme }) => {
  for (const [given, interval] of MEANT) {
    const { token } = await newSnitch(acme, { interval: 'hourly' });
    const updated = ok<WireSnitch>(await acme.write.patch(`/v1/snitches/${token}`, given));
    assert.is(updated.interval, interval, JSON.stringify(given));
    assert.equal(updated.type, { interval });
  }
});

test('the attribute of a refusal is interval in both forms', async ({ acme }) => {
  const { token } = await newSnitch(acme);
  for (const [given, validation] of REFUSED) {
    invalid(await acme.write.post('/v1/snitches', { name: 'n', ...given }), validation);
    invalid(await acme.write.patch(`/v1/snitches/${token}`, given), validation);
  }
  assert.is((await snitchNow(acme, token)).interval, 'hourly');
});

test('a type without an interval changes nothing', async ({ acme }) => {
  const snitch = await newSnitch(acme, { interval: 'daily' });
  for (const type of [{}, null, 'weekly', ['weekly'], { other: 1 }]) {
    assert.equal(ok(await acme.write.patch(snitch.href, { type })), snitch);
  }
});

test('a minute interval in the older form does not go with smart', async ({ acme }) => {
  const message = 'smart is not available for minute intervals';
  const given = { name: 'n', type: { interval: '5_minute' }, alert_type: 'smart' };
  invalid(await acme.write.post('/v1/snitches', given), { attribute: 'alert_type', message });
});

test('every answer with a snitch carries both forms', async ({ acme }) => {
  const created = await newSnitch(acme, { type: { interval: '12_hour' }, interval: undefined });
  const one = ok<WireSnitch>(await acme.write.get(created.href));
  const [listed] = ok<WireSnitch[]>(await acme.write.get('/v1/snitches'));
  const updated = ok<WireSnitch>(await acme.write.patch(created.href, { notes: 'x' }));
  for (const answer of [created, one, listed, updated]) {
    assert.is(answer?.interval, '12_hour');
    assert.equal(answer?.type, { interval: '12_hour' });
  }
});

test.run();
