/**
 * What `explain` says of the next alert comes true in the random lives of a case, if nothing more happens to it. A snitch
 * that needs others is left out: whether they will be well cannot be foreseen.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { cases } from '../cases.ts';
import { liveThrough } from './chronicle/live-through.ts';
import { ok } from './expect.ts';
import { type Fixture, HOUR, MINUTE, wholePass, withFixture } from './fixture.ts';

const BEGIN = Date.UTC(2026, 9, 24, 14, 7, 30);
const ACTS = 45;
const LOOKED_AHEAD = 40 * HOUR;

/** One with a silence that covers every run of a job, one with many reminders, and more with a larger TEST_SHARE. */
const SEEDS = [119, 110, ...Array.from({ length: 100 }, (_, index) => index + 1)];

const test = suite('what is foreseen');

async function live(context: Fixture, seed: number): Promise<void> {
  const begin = BEGIN + (seed % 7) * 5 * HOUR;
  const chronicler = await liveThrough(context, { begin, seed, acts: ACTS });
  await chronicler.write('the end of it');
}

/** When each snitch is told of next, by its token; null if it is not before `until`. */
async function foretold({ acme }: Fixture, until: number): Promise<Map<string, number | null>> {
  const told = new Map<string, number | null>();
  for (const { token, needs } of ok<WireSnitch[]>(await acme.read.get('/v1/snitches'))) {
    if (needs && needs.length > 0) continue;
    const path = `/v1/snitches/${token}/explain`;
    const { next_alert: next } = ok<WireExplanation>(await acme.read.get(path));
    const at = next ? Date.parse(next.at) : Number.POSITIVE_INFINITY;
    told.set(token, at <= until ? at : null);
  }
  return told;
}

/** When the first alarm or reminder after `since` came. */
async function firstAlarm({ store, acme }: Fixture, token: string, since: number): Promise<number | null> {
  const listed = await store.listAlerts(acme.id, token, { limit: 1_000, before: null });
  const alarms = listed.filter(({ alert: { type, at } }) => /missing|errored/.test(type) && at > since);
  return alarms.at(-1)?.alert.at ?? null;
}

test('comes true', async () => {
  for (const seed of SEEDS.slice(0, cases(3))) {
    await withFixture({}, async (context) => {
      await live(context, seed);
      const { clock } = context;
      const [asked, until] = [clock.now, clock.now + LOOKED_AHEAD];
      const told = await foretold(context, until);
      const passes = new Set([...told.values()].filter((at) => at !== null));
      for (let at = asked; at <= until; at += 5 * MINUTE) passes.add(at);
      for (const at of [...passes].sort((one, other) => one - other)) {
        clock.now = at;
        await wholePass(context);
      }
      for (const [token, at] of told) {
        assert.is(await firstAlarm(context, token, asked), at, `seed ${seed}: ${token}`);
      }
    });
  }
});

test.run();
