/**
 * The clock of the machine is 40 days ahead for a moment: no time from then may stay.
 * Time limit: 180 s. Also on PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';

const DAY = 86_400_000;

/** How long the daemon goes on sweeping, in milliseconds. */
const SOME_SWEEPS = 2_200;

const test = suite<{ daemon: LocalDaemon }>('a clock that is ahead');

test.before.each(async (context) => {
  context.daemon = new LocalDaemon(new MovableClock('2026-11-20T10:30:00Z'), {
    SMTP_URL: 'smtp://127.0.0.1:9',
  });
  await context.daemon.start();
});
test.after.each(({ daemon }) => daemon.dispose());

/** A job that is silent, one that checks in while the clock is ahead, and an alert that cannot be delivered then. */
async function liveAhead(daemon: LocalDaemon): Promise<string[]> {
  const tokens: string[] = [];
  for (const name of ['silent', 'busy', 'broken']) {
    const made = await daemon.call<WireSnitch>('POST', '/v1/snitches', { name, interval: '1_minute' });
    assert.is(await daemon.checkIn(made.token), 202);
    tokens.push(made.token);
  }
  await daemon.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await sleep(SOME_SWEEPS);
  await daemon.clock.move(40 * DAY);
  await sleep(SOME_SWEEPS);
  assert.is(await daemon.checkIn(tokens[1] ?? ''), 202);
  assert.is(await daemon.checkIn(tokens[2] ?? '', '?s=1'), 202);
  const attempted = async () => (await deliveries(daemon)).some(({ attempts }) => attempts > 0);
  while (!(await attempted())) await sleep(50);
  return tokens;
}

function deliveries(daemon: LocalDaemon): Promise<WireDelivery[]> {
  return daemon.call<WireDelivery[]>('GET', '/v1/deliveries?state=pending');
}

async function assertNothingLasts(daemon: LocalDaemon, tokens: readonly string[]): Promise<void> {
  await sleep(SOME_SWEEPS);
  for (const token of tokens) {
    const { next_alert } = await daemon.call<WireExplanation>('GET', `/v1/snitches/${token}/explain`);
    const ahead = Date.parse(next_alert?.at ?? '') - daemon.clock.now();
    assert.ok(ahead > 0 && ahead <= 120_000, `${token} is due in ${ahead} ms`);
  }
  for (const { next_attempt_at } of await deliveries(daemon)) {
    assert.ok(Date.parse(next_attempt_at ?? '') - daemon.clock.now() < 25 * 3_600_000);
  }
  const missing = async () =>
    (await daemon.call<WireAlert[]>('GET', '/v1/alerts?limit=1000')).filter(
      ({ type, snitch }) => type === 'snitch.missing' && tokens.includes(snitch?.token ?? ''),
    ).length;
  for (let step = 0; (await missing()) < tokens.length; step += 1) {
    assert.ok(step < 40, 'a silent job is missed in its time');
    await daemon.liveOn(4_000);
  }
}

test('while the daemon runs', async ({ daemon }) => {
  const tokens = await liveAhead(daemon);
  await daemon.clock.move(-40 * DAY);
  await assertNothingLasts(daemon, tokens);
});

test('across a restart', async ({ daemon }) => {
  const tokens = await liveAhead(daemon);
  await daemon.stop();
  await daemon.clock.move(-40 * DAY);
  await daemon.start();
  await assertNothingLasts(daemon, tokens);
});

test.run();
