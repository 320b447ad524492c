/** `snitch schedule check`: when a schedule would be due, before anything relies on it. */
import type { WireRun, WireSchedule, WireScheduleCheck } from '../../api/wire.ts';
import { durationInWords, durationOf, SECOND } from '../../text/durations.ts';
import { relativeTime, weekdayTime } from '../../text/times.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { UsageError } from '../failure/failure.ts';
import { Output, type View } from '../output/output.ts';

interface ScheduleFlags extends ClientFlags {
  cron?: string;
  calendar?: string;
  every?: string;
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
    .option('--cron <expression>', 'five fields, or @daily and its like')
    .option('--calendar <expression>', 'as OnCalendar= of systemd has it')
    .option('--every <duration>', 'so long after the last check-in, such as 90m')
    .option('--timezone <zone>', 'in which it is read (default: that of the case)')
    .option('--grace <duration>', 'from a run to its deadline (default: a tenth of the shortest gap)')
    .option('--from <time>', 'the runs after this ISO 8601 time (default: now)')
    .action((flags: ScheduleFlags) => checkSchedule(flags));
  withExamples(
    addClientOptions(check),
    `snitch schedule check --cron '0 3 * * 1-5' --timezone Europe/Berlin`,
    `snitch schedule check --calendar 'Mon *-*~07/1 23:00' --grace 2h`,
    'snitch schedule check --every 90m',
  );
};

async function checkSchedule(flags: ScheduleFlags): Promise<void> {
  const { timezone, grace, from } = flags;
  const given = {
    schedule: scheduleOf(flags),
    ...(timezone === undefined ? {} : { timezone }),
    ...(grace === undefined ? {} : { grace: secondsOf(grace, '--grace') }),
    ...(from === undefined ? {} : { from }),
  };
  const found = await connect(flags).checkSchedule(given);
  const output = new Output(flags);
  output.list(found.runs, viewIn(found, output.style.now), found);
  if (output.format !== 'json') output.done(inWords(found));
}

/** @throws UsageError unless exactly one of the three kinds is given */
function scheduleOf({ cron, calendar, every }: ScheduleFlags): WireSchedule {
  const given: WireSchedule[] = [];
  if (cron !== undefined) given.push({ cron });
  if (calendar !== undefined) given.push({ calendar });
  if (every !== undefined) given.push({ every: secondsOf(every, '--every') });
  const [schedule, ...more] = given;
  if (schedule === undefined || more.length > 0) {
    throw new UsageError('say when by one of --cron, --calendar and --every');
  }
  return schedule;
}

function secondsOf(text: string, option: string): number {
  const ms = durationOf(text);
  if (ms === null || ms % SECOND !== 0) {
    throw new UsageError(`${option}: "${text}" is no length of time: write 30s, 5m, 2h or 1d`);
  }
  return ms / SECOND;
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
  return `in ${timezone}, with ${durationInWords(grace * SECOND)} of grace; ${interval} for clients that know intervals alone`;
}
