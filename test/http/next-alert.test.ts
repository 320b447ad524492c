/**
 * What `explain` says of the next alert is what the sweep then does: in every combination of status, acknowledgement,
 * silence, pause and need, with nothing heard of the job from the moment at which it is asked.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { CheckInOutcome } from '../../src/core/check-in.ts';
import { ok } from './expect.ts';
import { type Fixture, hooks, MINUTE, newSnitch, START, wholePass } from './fixture.ts';

// Time limit: 180 s.
const test = suite<Fixture>('the next alert');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** Minutes since START; all of them are passes of the sweep. */
const SILENCED_EARLY = 65;
const SILENCED_LATE = 95;
const ACKNOWLEDGED = 100;
const PAUSED = 105;
const ASKED = 110;
const PAUSE_ENDS = 150;
const SILENCE_ENDS = 200;
const HOST_SILENCE_ENDS = 230;
const LAST = 360;

const STATUSES = ['healthy', 'errored', 'missing', 'overran'] as const;
const HOSTS = [null, 'well', 'failed', 'silenced'] as const;
const SILENCES = [null, SILENCED_EARLY, SILENCED_LATE] as const;
const PAUSES = [null, 'time', 'unpaused'] as const;

interface Combination {
  status: (typeof STATUSES)[number];
  host: (typeof HOSTS)[number];
  silencedAt: (typeof SILENCES)[number];
  isAcknowledged: boolean;
  pause: (typeof PAUSES)[number];
}

interface Job extends Combination {
  token: string;
  hostToken: string | null;
}

function combinations(): Combination[] {
  return STATUSES.flatMap((status) =>
    HOSTS.flatMap((host) =>
      SILENCES.flatMap((silencedAt) =>
        (silencedAt === SILENCED_LATE ? [null] : PAUSES).flatMap((pause) =>
          (status === 'healthy' ? [false] : [false, true]).map((isAcknowledged) => ({
            ...{ status, host, silencedAt, pause, isAcknowledged },
          })),
        ),
      ),
    ),
  );
}

function inWords({ status, host, silencedAt, isAcknowledged, pause }: Combination): string {
  return [
    status,
    ...(host ? [`its host ${host}`] : []),
    ...(silencedAt ? [`silenced at ${silencedAt}`] : []),
    ...(isAcknowledged ? ['acknowledged'] : []),
    ...(pause ? [`paused until ${pause}`] : []),
  ].join(', ');
}

const at = (minute: number) => START + minute * MINUTE;

function silence({ store, acme }: Fixture, tokens: string[], from: number, to: number) {
  const time = { kind: 'once', from: at(from), to: at(to) } as const;
  const given = { scope: { kind: 'tokens', tokens }, time, note: '', by: 'ops' } as const;
  return store.createSilence(acme.id, given, at(from), 1_000);
}

async function makeJob(fixture: Fixture, combination: Combination): Promise<Job> {
  const { acme } = fixture;
  const every = (minutes: number) => ({ schedule: { every: minutes * 60 }, grace: 0 });
  const host = combination.host === null ? null : await newSnitch(acme, { name: 'host', ...every(30) });
  const { token } = await newSnitch(acme, {
    name: 'job',
    ...every(60),
    ...(combination.status === 'overran' ? { max_runtime: 600 } : {}),
    ...(host ? { needs: [host.token] } : {}),
  });
  await reports(fixture, token);
  if (host) await reports(fixture, host.token);
  return { ...combination, token, hostToken: host?.token ?? null };
}

async function reports({ store, clock }: Fixture, token: string, outcome: CheckInOutcome = 'healthy') {
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  const { now } = clock;
  assert.is(await store.applyCheckIn({ token, now, at: now, outcome, ...nothing }), true);
}

async function hostLives(fixture: Fixture, { hostToken, host }: Job): Promise<void> {
  if (hostToken !== null && host !== 'failed') await reports(fixture, hostToken);
}

/** What happens to a job in a minute, before the sweep passes. */
async function live(fixture: Fixture, job: Job, minute: number): Promise<void> {
  const { acme } = fixture;
  const { token, hostToken, host, status, silencedAt, isAcknowledged, pause } = job;
  const path = `/v1/snitches/${token}`;
  if (minute % 20 === 10) await hostLives(fixture, job);
  if (hostToken && host === 'silenced' && minute === 50) {
    await silence(fixture, [hostToken], minute, HOST_SILENCE_ENDS);
  }
  if (minute === silencedAt) await silence(fixture, [token], minute, SILENCE_ENDS);
  if (minute === 55 && status !== 'missing') await reports(fixture, token);
  if (minute === 70 && status === 'overran') await reports(fixture, token, 'start');
  if (minute === 80 && status === 'healthy') await reports(fixture, token);
  if (minute === 80 && status === 'errored') await reports(fixture, token, 'error');
  if (minute === ACKNOWLEDGED && isAcknowledged) ok(await acme.write.post(`${path}/acknowledge`, {}));
  if (minute === PAUSED && pause !== null) {
    const until = pause === 'time' ? new Date(at(PAUSE_ENDS)).toISOString() : 'unpaused';
    const { status: code } = await acme.write.post(`${path}/pause`, { until });
    assert.is(code, 204);
  }
}

interface Shown {
  nextAlert: string | null;
  reasons: string[];
  snitch: WireSnitch;
}

async function ask({ acme }: Fixture, { token }: Job): Promise<Shown> {
  const path = `/v1/snitches/${token}`;
  const {
    next_alert: nextAlert,
    deadline,
    reasons,
  } = ok<WireExplanation>(await acme.read.get(`${path}/explain`));
  const shown = ok<WireSnitch>(await acme.read.get(path));
  assert.is(shown.deadline, deadline?.at ?? null, `show and explain agree: ${reasons.join(' ')}`);
  return { nextAlert: nextAlert?.at ?? null, reasons, snitch: shown };
}

test('is what explain says, in every combination of what holds alerts back', async (fixture) => {
  const { clock, store, acme } = fixture;
  const jobs: Job[] = [];
  for (const combination of combinations()) jobs.push(await makeJob(fixture, combination));
  const shown = new Map<string, Shown>();
  for (let minute = 5; minute <= LAST; minute += minute < ASKED ? 5 : 10) {
    clock.now = at(minute);
    for (const job of jobs) {
      if (minute <= ASKED) await live(fixture, job, minute);
      else if (minute % 20 === 10) await hostLives(fixture, job);
    }
    await wholePass(fixture);
    if (minute !== ASKED) continue;
    for (const job of jobs) shown.set(job.token, await ask(fixture, job));
    const list = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
    for (const job of jobs) {
      const one = ok<WireSnitch>(await acme.read.get(`/v1/snitches/${job.token}`));
      assert.equal(
        list.find(({ token }) => token === job.token),
        one,
      );
    }
  }
  const wrong: string[] = [];
  for (const job of jobs) {
    const alerts = await store.listAlerts(acme.id, job.token, { limit: 1_000, before: null });
    const next = alerts
      .map(({ alert }) => alert)
      .filter(({ type, at: time }) => /missing|errored/.test(type) && time > at(ASKED))
      .at(-1);
    const really = next ? new Date(next.at).toISOString() : null;
    const said = shown.get(job.token);
    if (said && said.nextAlert !== really) {
      wrong.push(`${inWords(job)}: said ${said.nextAlert}, was ${really} (${said.reasons.join(' ')})`);
    }
  }
  assert.is(jobs.length, 4 * 7 * 7);
  assert.equal(wrong, []);
});

test.run();
