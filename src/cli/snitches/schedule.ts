/** `snitch schedule check`: when a schedule would be due, before anything relies on it. */
import type { WireRun, WireScheduleCheck } from '../../api/wire-explanation.ts';
import { durationInWords, SECOND } from '../../text/durations.ts';
import { relativeTime, weekdayTime } from '../../text/times.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { UsageError } from '../failure/failure.ts';
import { Output, type View } from '../output/output.ts';
import { type ScheduleFlags, scheduleOf, secondsOf } from './due-flags.ts';

interface CheckFlags extends ClientFlags, ScheduleFlags {
  timezone?: string;
  grace?: string;
  from?: string;
}

export const register: Register = (program) => {
  const schedule = program
    .command('schedule')
    .description('schedules: what a cron or OnCalendar expression means');
  withExamples(schedule, `snitch schedule check --cron '0 3 * * 1-5' --timezone Europe/Berlin`);
  const check = schedule
    .command('check')
    .description('show the next runs of a schedule with their deadlines, or say what is wrong with it')
    .option('--cron <expression>', 'five fields, or @daily and the like')
    .option('--calendar <expression>', 'as OnCalendar= of systemd has it')
    .option('--every <duration>', 'this long after the last check-in, such as 90m')
    .option('--timezone <zone>', 'in which it is read (default: that of the case)')
    .option(
      '--grace <duration>',
      'from a run to its deadline (default: a tenth of the shortest gap, from 1m to 15m)',
    )
    .option('--from <time>', 'the runs after this ISO 8601 time (default: now)')
    .action((flags: CheckFlags) => checkSchedule(flags));
  withExamples(
    addClientOptions(check),
    `snitch schedule check --cron '0 3 * * 1-5' --timezone Europe/Berlin`,
    `snitch schedule check --calendar 'Mon *-*~07/1 23:00' --grace 2h`,
    'snitch schedule check --every 90m',
  );
};

async function checkSchedule(flags: CheckFlags): Promise<void> {
  const { timezone, grace, from } = flags;
  const schedule = scheduleOf(flags);
  if (schedule === null) throw new UsageError('use only one of --cron, --calendar and --every');
  const given = {
    schedule,
    ...(timezone === undefined ? {} : { timezone }),
    ...(grace === undefined ? {} : { grace: secondsOf(grace, '--grace') }),
    ...(from === undefined ? {} : { from }),
  };
  const found = await connect(flags).checkSchedule(given);
  const output = new Output(flags);
  output.list(found.runs, viewIn(found, output.style.now), found);
  if (output.format !== 'json') output.done(inWords(found));
}

function viewIn({ timezone }: WireScheduleCheck, now: number): View<WireRun> {
  const shown = (iso: string) => weekdayTime(Date.parse(iso), timezone);
  return {
    name: ({ at }) => at,
    id: ({ at }) => at,
    empty: 'it is not due again',
    columns: [
      { header: 'DUE', cell: ({ at }) => shown(at) },
      { header: 'DEADLINE', cell: ({ deadline }) => shown(deadline), optional: true },
      { header: 'WHEN', cell: ({ at }) => relativeTime(at, now), optional: true },
    ],
  };
}

function inWords({ timezone, grace, interval }: WireScheduleCheck): string {
  return `in ${timezone}, with ${durationInWords(grace * SECOND)} of grace; ${interval} for clients that only know intervals`;
}
