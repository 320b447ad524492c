/** The options that say when a job is due, for `create`, `edit` and `schedule check`. */
import type { Command } from 'commander';
import type { SnitchInput } from '../../api/client.ts';
import type { WireSchedule } from '../../api/wire.ts';
import { durationOf, SECOND } from '../../text/durations.ts';
import { UsageError } from '../failure/failure.ts';

export interface ScheduleFlags {
  cron?: string;
  calendar?: string;
  every?: string;
}

/** False is for `--no-schedule` and its like, which only `edit` has. */
export interface DueFlags extends ScheduleFlags {
  schedule?: boolean;
  timezone?: string | false;
  grace?: string | false;
}

export type DueInput = Pick<SnitchInput, 'schedule' | 'timezone' | 'grace'>;

export function addDueOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'when the job is due: five fields, or @daily and the like')
    .option('--calendar <expression>', 'the same in the form of OnCalendar= in systemd')
    .option('--every <duration>', 'this long after its last check-in, such as 90m')
    .option('--timezone <zone>', 'of the schedule (default: that of the case)')
    .option(
      '--grace <duration>',
      'how long after it is due to alert, such as 10m (default: a tenth of the shortest gap between two runs, from 1m to 15m; with an interval none)',
    );
}

/** @throws UsageError if more than one of the three kinds is given */
export function scheduleOf({ cron, calendar, every }: ScheduleFlags): WireSchedule | null {
  const given: WireSchedule[] = [];
  if (cron !== undefined) given.push({ cron });
  if (calendar !== undefined) given.push({ calendar });
  if (every !== undefined) given.push({ every: secondsOf(every, '--every') });
  const [schedule, ...more] = given;
  if (more.length > 0) throw new UsageError('use only one of --cron, --calendar and --every');
  return schedule ?? null;
}

/** Whole seconds. @throws UsageError naming the option */
export function secondsOf(text: string, option: string): number {
  const ms = durationOf(text);
  if (ms === null || ms % SECOND !== 0) {
    throw new UsageError(`${option}: "${text}" is not a length of time: write 30s, 5m, 2h or 1d`);
  }
  return ms / SECOND;
}

/** Only the options given. @throws UsageError for options that are not understood, or contradict each other */
export function dueOf(flags: DueFlags): DueInput {
  const input: DueInput = {};
  const schedule = scheduleOf(flags);
  if (schedule !== null) input.schedule = schedule;
  if (flags.schedule === false) {
    if (schedule !== null) throw new UsageError('--no-schedule does not go with a schedule');
    input.schedule = null;
  }
  if (flags.timezone !== undefined) input.timezone = flags.timezone === false ? null : flags.timezone;
  if (flags.grace !== undefined) {
    input.grace = flags.grace === false ? null : secondsOf(flags.grace, '--grace');
  }
  return input;
}
