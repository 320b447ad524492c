/**
 * Checks what a server kept about when a job is due. A server that does not know schedules ignores them, and the user
 * must not believe that it kept them (`extensions: Beyond the contract`).
 */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSchedule, WireSnitch } from '../../api/wire.ts';
import { scheduleInWords } from '../../core/schedule-name.ts';
import { Failure } from '../failure/failure.ts';
import { nextRuns, scheduleWords } from '../output/next-runs.ts';
import type { Output } from '../output/output.ts';
import type { DueInput } from './due-flags.ts';
import { type NeedInput, needsLost } from './need-flags.ts';
import { type RuleInput, rulesLost } from './rule-flags.ts';
import { type RunInput, runsLost } from './run-flags.ts';

/** Checks first, so that an older server is not even asked to make a snitch, which would have no schedule. */
export async function askForSchedules(
  client: Client,
  { schedule }: Pick<DueInput, 'schedule'>,
): Promise<void> {
  if (!schedule || (await knowsSchedules(client, schedule))) return;
  throw new Failure('nothing was changed: the server does not know schedules, and must be updated first');
}

/** Whether the server is new enough, whatever it says about this schedule. */
export async function knowsSchedules(client: Client, schedule: WireSchedule): Promise<boolean> {
  try {
    await client.checkSchedule({ schedule });
    return true;
  } catch (error) {
    // A server that knows schedules and refuses this one says so when it is asked to keep it.
    if (!(error instanceof ApiError)) throw error;
    return error.status !== 404 && error.status !== 405;
  }
}

/**
 * @param undo what to do about it, if something was changed without what was wanted
 * @throws Failure if the answer does not have what was sent
 */
export function checkKept(
  snitch: WireSnitch,
  wanted: DueInput & RunInput & RuleInput & NeedInput,
  undo: string,
): void {
  const lost = [
    wanted.schedule && !snitch.schedule ? 'its schedule' : '',
    wanted.timezone && !snitch.timezone ? 'its time zone' : '',
    wanted.grace !== undefined && wanted.grace !== null && snitch.grace !== wanted.grace ? 'its grace' : '',
    ...runsLost(snitch, wanted),
    ...rulesLost(snitch, wanted),
    ...needsLost(snitch, wanted),
  ].filter((one) => one !== '');
  if (lost.length === 0) return;
  throw new Failure(
    `the server did not keep ${lost.join(' and ')}: it is too old for that. It has "${snitch.name}" (${snitch.token}) with the interval ${snitch.interval} alone: ${undo}`,
  );
}

/**
 * Shows the next runs for people, so that a wrong expression is seen at once.
 *
 * @param about begins the line if it is one of several
 */
export async function tellNextRuns(
  client: Client,
  output: Output,
  snitch: WireSnitch,
  about = '',
): Promise<void> {
  const { schedule, token, status } = snitch;
  if (!schedule || output.quiet || output.format === 'json' || output.format === 'name') return;
  if ('every' in schedule && status === 'pending') {
    output.done(`${about}due: ${scheduleInWords(schedule, '')}`);
    return;
  }
  // The change is already made, so failing to show more must not look as if the change had failed.
  const shown = await client.explain(token).catch(() => null);
  const next = shown?.schedule ? nextRuns(shown.schedule, output.style.now) : null;
  output.done(`${about}next: ${next ?? `as its schedule says, ${scheduleWords(snitch)}`}`);
}
