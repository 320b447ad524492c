/**
 * Thousands of snitches fail in the same second, with webhooks and emails to send, while others keep checking in at a
 * steady rate.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobsDatabase, steadyTokens } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { type Receivers, startReceivers } from '../load/receivers.ts';
import { pace } from '../load/wrk.ts';
import { type Case, counted, type Figures, type Line, type Sizes, type Subject } from './case.ts';
import { awaitDue, STEADY, WARM_UP } from './due.ts';

const WEBHOOKS = 2;
const RECIPIENTS = ['ann@example.com', 'bob@example.com'];

/** Milliseconds. */
const PATIENCE = 300_000;

export const storm: Case = {
  name: 'storm',
  rounds: 2,
  lines: ({ storms, million }: Sizes) => storms.flatMap((failing) => linesOf(failing, million)),
  async open(subject) {
    const { workplace, sizes } = subject;
    const database = await subject.database(sizes.million);
    const receivers = await startReceivers(workplace, WEBHOOKS);
    await addTargets(subject, database, receivers);
    return {
      async round() {
        const figures: Record<string, number> = {};
        for (const failing of sizes.storms)
          Object.assign(figures, await one(subject, database, receivers, failing));
        return figures;
      },
      async end() {
        await removeTargets(subject, database);
        receivers.end();
      },
    };
  },
};

function linesOf(failing: number, million: number): Line[] {
  const idle = { figure: `idle${failing}`, name: 'idle' };
  return [
    {
      what: `p99 of check-ins in a storm of ${counted(failing)} alerts, among ${counted(million)} snitches`,
      figure: `storm${failing}`,
      unit: 'ms',
      beside: idle,
      aim: { of: 'ratio', most: 3 },
    },
    { what: 'In its worst second', figure: `worst${failing}`, unit: 'ms', beside: idle },
    { what: `All ${counted(failing * WEBHOOKS)} webhooks sent within`, figure: `sent${failing}`, unit: 's' },
  ];
}

async function addTargets(
  subject: Subject,
  { dataDir }: JobsDatabase,
  { addresses }: Receivers,
): Promise<void> {
  const daemon = await subject.start(dataDir);
  await daemon.call('PATCH', '/v1/case', { members: RECIPIENTS });
  for (const url of addresses.webhooks) await daemon.call('POST', '/v1/webhooks', { url });
  await daemon.end();
}

/** In the cases that follow, nobody is alerted. */
async function removeTargets(subject: Subject, { dataDir }: JobsDatabase): Promise<void> {
  const daemon = await subject.start(dataDir);
  await daemon.call('PATCH', '/v1/case', { members: [] });
  const webhooks = (await (await daemon.call('GET', '/v1/webhooks')).json()) as { id: string }[];
  for (const { id } of webhooks) await daemon.call('DELETE', `/v1/webhooks/${id}`);
  await daemon.end();
}

async function one(
  subject: Subject,
  database: JobsDatabase,
  receivers: Receivers,
  failing: number,
): Promise<Figures> {
  const { workplace, sizes } = subject;
  const env = { SNITCH_SMTP_URL: receivers.addresses.smtp, SNITCH_SMTP_FROM: 'snitch@example.org' };
  const scene = (at: number) => usualScene(database.midnight, failing, at);
  const calm = WARM_UP + sizes.seconds * 1_000;
  const { daemon, dueAt } = await awaitDue(subject, database, scene, { calm, env });
  const before = await receivers.arrived();
  const paths = steadyTokens(database, STEADY).map((token) => `/c/${token}`);
  const beside = pace(workplace, { url: daemon.url, paths, rate: sizes.rate });
  await untilSent(receivers, before.webhooks + failing * WEBHOOKS, dueAt);
  const sentAt = Date.now();
  const answered = await beside.end();
  await daemon.end();
  const idle = latenciesBetween(answered, dueAt - sizes.seconds * 1_000, dueAt);
  const during = latenciesBetween(answered, dueAt, sentAt);
  return {
    [`idle${failing}`]: idle.p99,
    [`storm${failing}`]: during.p99,
    [`worst${failing}`]: during.worstSecond,
    [`sent${failing}`]: (sentAt - dueAt) / 1_000,
  };
}

async function untilSent(receivers: Receivers, wanted: number, dueAt: number): Promise<void> {
  while ((await receivers.arrived()).webhooks < wanted) {
    if (Date.now() - dueAt > PATIENCE) throw new Error(`not all webhooks came within ${PATIENCE / 1_000} s`);
    await sleep(100);
  }
}
