/** What waits for the hours of its target while the clock of their zone changes: the hours are those that people see. */
import * as assert from 'uvu/assert';
import { EVERYTHING } from '../../src/core/channel.ts';
import type { Hours } from '../../src/core/hours/hours.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, newCase, newSnitch, SECOND, utc } from './fixture.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const OFFICE: Hours = { timezone: 'Europe/Berlin', days: DAYS, from: '08:00', to: '18:00' };

interface Change {
  what: string;
  hours?: Partial<Hours>;
  after?: number;
  /** In UTC, before the change and after it. */
  raised: string;
  told: string;
}

/** Berlin changes at 01:00 UTC on 29 March and 25 October 2026, New York at 07:00 and 06:00 UTC on 8 March and 1 November. */
const CHANGES: Change[] = [
  {
    what: 'a night that is an hour shorter',
    raised: '2026-03-28T20:00:00',
    told: '2026-03-29T06:00:00',
  },
  {
    what: 'a night that is an hour longer',
    raised: '2026-10-24T20:00:00',
    told: '2026-10-25T07:00:00',
  },
  {
    what: 'the same in another zone, forward',
    hours: { timezone: 'America/New_York' },
    raised: '2026-03-08T02:00:00',
    told: '2026-03-08T12:00:00',
  },
  {
    what: 'the same in another zone, back',
    hours: { timezone: 'America/New_York' },
    raised: '2026-11-01T02:00:00',
    told: '2026-11-01T13:00:00',
  },
  {
    what: 'an opening that is skipped is the end of the gap',
    hours: { from: '02:30', to: '05:00' },
    raised: '2026-03-28T20:00:00',
    told: '2026-03-29T01:00:00',
  },
  {
    what: 'of two openings the first',
    hours: { from: '02:30', to: '05:00' },
    raised: '2026-10-24T20:00:00',
    told: '2026-10-25T00:30:00',
  },
  {
    what: 'the time that passes before somebody else is told is the same in a night of any length',
    hours: { from: '00:00', to: '24:00' },
    after: 7_200,
    raised: '2026-03-29T00:30:00',
    told: '2026-03-29T02:30:00',
  },
  {
    what: 'an escalation whose time comes in the skipped hour waits for the opening',
    after: 3_600,
    raised: '2026-03-29T00:15:00',
    told: '2026-03-29T06:00:00',
  },
  {
    what: 'an escalation whose time comes in the doubled hour does so too',
    after: 3_600,
    raised: '2026-10-25T00:15:00',
    told: '2026-10-25T07:00:00',
  },
];

/** A snitch that is well, and a channel with these hours. */
async function setUp(store: Store, { hours, after = 0 }: Pick<Change, 'hours' | 'after'>, now: number) {
  const owner = await newCase(store, {}, now);
  const { token } = await newSnitch(store, owner, { interval: 'daily' }, now);
  await checkIn(store, token, now);
  const settings = { server: 'https://push.example.com', token: 'x' };
  const fields = { settings, ...EVERYTHING, after, hours: { ...OFFICE, ...hours } };
  await store.createChannel(owner.id, { kind: 'gotify', name: 'ops', fields }, now);
  return { owner, token };
}

async function send(store: Store, now: number): Promise<string[]> {
  const request = { now, leaseUntil: now + MINUTE, perTarget: 100, limit: 100, busy: [], after: '' };
  const claims = await store.claimDeliveries({ ...request, channel: 'gotify' });
  for (const { id, fence } of claims) await store.settleDelivery(id, fence, { kind: 'delivered', at: now });
  return claims.map(({ alert }) => alert.type.replace('snitch.', ''));
}

/** Also looks at the outbox each quarter of an hour, as somebody's other alerts make it do. */
async function sendUntil(store: Store, from: number, to: number): Promise<string[]> {
  const sent: string[] = [];
  for (let now = from; now < to; now += 15 * MINUTE) sent.push(...(await send(store, now)));
  return [...sent, ...(await send(store, to - 1))];
}

contract('quiet hours over a clock change', (test) => {
  for (const { what, raised, told, ...route } of CHANGES) {
    test(`${what}: neither a moment before nor forgotten, over a restart`, async (context) => {
      const [at, opening] = [utc(raised), utc(told)];
      const { owner, token } = await setUp(context.store, route, at - HOUR);
      await checkIn(context.store, token, at, { outcome: 'error' });
      const [planned] = await context.store.listDeliveries(owner.id, { state: null, limit: 1, before: null });
      assert.is(planned?.nextAttemptAt, opening, new Date(planned?.nextAttemptAt ?? 0).toISOString());
      const store = await context.reopen();
      await store.releaseLeases(at + SECOND);
      assert.equal(await sendUntil(store, at, opening), []);
      assert.equal(await send(store, opening), ['errored']);
    });

    test(`${what}: what recovers before is never told`, async ({ store }) => {
      const [at, opening] = [utc(raised), utc(told)];
      const { token } = await setUp(store, route, at - HOUR);
      await checkIn(store, token, at, { outcome: 'error' });
      await checkIn(store, token, opening - 1);
      assert.equal(await sendUntil(store, opening, opening + 30 * HOUR), []);
    });
  }

  test('what was told before the night ends in it, and that is told when the hours begin', async ({
    store,
  }) => {
    for (const [evening, opening] of [
      ['2026-03-28T16:30:00', '2026-03-29T06:00:00'],
      ['2026-10-24T15:30:00', '2026-10-25T07:00:00'],
    ] as const) {
      const at = utc(evening);
      const { token } = await setUp(store, {}, at - HOUR);
      await checkIn(store, token, at, { outcome: 'error' });
      assert.equal(await send(store, at), ['errored']);
      await checkIn(store, token, at + 9 * HOUR);
      assert.equal(await sendUntil(store, at + 9 * HOUR, utc(opening)), []);
      assert.equal(await send(store, utc(opening)), ['reporting']);
    }
  });
});
