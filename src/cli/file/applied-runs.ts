/** Shows the next runs of snitches that an apply has given a schedule, so that a wrong expression is seen at once. */
import type { Client } from '../../api/client.ts';
import type { WireSchedule } from '../../api/wire.ts';
import { scheduleInWords } from '../../core/schedule-name.ts';
import { nextRuns } from '../output/next-runs.ts';
import type { Output } from '../output/output.ts';
import type { Plan } from './apply-plan.ts';

/** A file may have thousands: this many are shown, with this many runs each. */
const TOLD = 5;
const RUNS = 2;

/** A snitch whose schedule was applied; the token is null if it was just made. */
interface Scheduled {
  name: string;
  token: string | null;
  schedule: WireSchedule;
  timezone: string | null;
}

export async function tellNextRuns(client: Client, output: Output, plan: Plan): Promise<void> {
  if (output.quiet || output.format === 'json' || output.format === 'name') return;
  const scheduled = scheduledBy(plan);
  for (const one of scheduled.slice(0, TOLD))
    output.done(`${one.name}: ${await runsOf(client, output, one)}`);
  const rest = scheduled.length - TOLD;
  if (rest > 0)
    output.done(`and ${rest} more with a schedule: \`snitch show NAME\` lists the next runs of each`);
}

function scheduledBy({ create, change }: Plan): Scheduled[] {
  return [
    ...create.flatMap(({ name, schedule, timezone }) =>
      schedule ? [{ name, token: null, schedule, timezone: timezone ?? null }] : [],
    ),
    ...change.flatMap(({ name, token, fields }) => {
      const to = fields.find(({ field }) => field === 'schedule')?.to as WireSchedule | null | undefined;
      return to ? [{ name, token, schedule: to, timezone: null }] : [];
    }),
  ];
}

/** The file is applied already, so failing to show more must not look as if that had failed. */
async function runsOf(client: Client, output: Output, scheduled: Scheduled): Promise<string> {
  const { token, schedule, timezone } = scheduled;
  const words = scheduleInWords(schedule, timezone ?? 'time zone of the case');
  if (token === null && 'every' in schedule) return `due ${words}`;
  const asked =
    token === null
      ? client.checkSchedule({ schedule, ...(timezone ? { timezone } : {}) })
      : client.explain(token).then((explanation) => explanation.schedule);
  const shown = await asked.catch(() => null);
  const next = shown ? nextRuns(shown, output.style.now, RUNS) : null;
  return `next ${next ?? `as its schedule says, ${words}`}`;
}
