/**
 * A host dies and comes back while the daemon is killed again and again: whichever recovers first, one alert is raised for
 * it, and one for the job that stays silent. Time limit: 120 s.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { removeDataDir } from '../../data-directory.ts';
import {
  alertsOf,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  openIn,
  SECOND,
  temporaryDirectory,
} from '../fixture.ts';
import type { Step } from './mortal-store.ts';

const test = suite('needs and kills');

const REPORTED = 'snitch.reporting from pending';
const MISSING = 'snitch.missing from healthy';

const PROGRAM = join(import.meta.dirname, 'mortal-store.ts');

/** The most syncs after which a process is killed. */
const LONGEST_LIFE = 6;
const WELL = NOW + 60 * MINUTE;

const pass = (now: number): Step => ({ now, tokens: [], passes: true });
const heard = (now: number, ...tokens: string[]): Step => ({ now, tokens, passes: false });

/** How the host and the job that is well again come back. */
const ORDERS = {
  'the host first': (host, job) => [
    heard(WELL, host),
    pass(WELL + SECOND),
    heard(WELL + 2 * SECOND, job),
    pass(WELL + 3 * SECOND),
  ],
  'the host last': (host, job) => [
    heard(WELL - 2 * SECOND, job),
    pass(WELL - SECOND),
    heard(WELL, host),
    pass(WELL + SECOND),
  ],
  together: (host, job) => [heard(WELL, host, job), pass(WELL + SECOND)],
} satisfies Record<string, (host: string, job: string) => Step[]>;

/** After each death it takes the unconfirmed step again, as jobs and the sweeper do. */
function takeAll(dataDir: string, steps: readonly Step[]): number {
  let deaths = 0;
  for (let taken = 0; taken < steps.length; ) {
    const life = Math.ceil(Math.random() * LONGEST_LIFE * 2) / 2;
    const args = [PROGRAM, dataDir, JSON.stringify(steps.slice(taken)), String(life)];
    const { stdout, stderr, signal, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (signal !== 'SIGKILL') assert.is(status, 0, stderr);
    else deaths += 1;
    taken += stdout.length;
    assert.ok(deaths < 500, 'it gets on');
  }
  return deaths;
}

for (const [order, comeBack] of Object.entries(ORDERS)) {
  test(`${order}: one alert for the host, none for the job, one for the job that is silent`, async () => {
    const dataDir = temporaryDirectory();
    try {
      const made = await setUp(dataDir);
      const [host, job, silent] = made.tokens;
      const steps = [
        pass(NOW + 6 * MINUTE),
        pass(NOW + 10 * MINUTE),
        pass(NOW + 11 * MINUTE),
        ...comeBack(host, job),
        heard(WELL + 4 * MINUTE, host, job),
        pass(WELL + 5 * MINUTE),
        heard(WELL + 8 * MINUTE, host, job),
        pass(WELL + 10 * MINUTE + 5 * SECOND),
        pass(WELL + 11 * MINUTE),
      ];
      const deaths = takeAll(dataDir, steps);
      await using store = openIn(dataDir);
      const { owner } = made;
      assert.equal(await alertsOf(store, owner, job), [REPORTED], `after ${deaths} deaths`);
      assert.equal(await alertsOf(store, owner, silent), [REPORTED, MISSING]);
      assert.equal(await alertsOf(store, owner, host), [REPORTED, MISSING, 'snitch.reporting from missing']);
      const [last] = await store.listAlerts(owner.id, silent, { limit: 1, before: null });
      const reason = last?.alert.details?.reason;
      assert.is(reason?.kind === 'noCheckIn' ? reason.held?.by : null, 'db1');
      const deliveries = await store.listDeliveries(owner.id, { state: null, limit: 100, before: null });
      assert.is(deliveries.length, 6, 'and each is told once to the one that there is');
    } finally {
      removeDataDir(dataDir);
    }
  });
}

/** A host that checks in every 5 minutes, and two jobs on it every 10: all did at `NOW`. */
async function setUp(dataDir: string) {
  await using store = openIn(dataDir);
  const owner = await newCase(store, { reminders: 'off' });
  await store.createWebhook(owner.id, 'https://hooks.example.com/', NOW);
  const every = (minutes: number) => ({ schedule: { every: minutes * 60 }, grace: 0 });
  const { token: host } = await healthySnitch(store, owner, { ...every(5), name: 'db1' });
  const needs = [host];
  const { token: job } = await healthySnitch(store, owner, { ...every(10), name: 'job', needs });
  const { token: silent } = await healthySnitch(store, owner, { ...every(10), name: 'silent', needs });
  return { owner, tokens: [host, job, silent] as const };
}

test.run();
