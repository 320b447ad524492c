/** The options with which a check-in may make its snitch, and how they are sent to the server. */
import { type Command, Option } from 'commander';
import { collect } from '../command/command.ts';
import { looksLikeToken } from '../command/resolve.ts';
import { UsageError } from '../failure/failure.ts';
import { intervalOf } from '../output/interval-words.ts';
import { type DueFlags, dueOf } from '../snitches/due-flags.ts';
import { type RuleFlags, rulesOf } from '../snitches/rule-flags.ts';
import { type RunFlags, runOf } from '../snitches/run-flags.ts';
import { looksLikeAddress } from './address.ts';

export interface MakeFlags extends Omit<DueFlags, 'schedule'>, RunFlags, RuleFlags {
  create?: boolean;
  interval?: string;
  tag?: string[];
  alertType?: string;
  alertEmail?: string[];
  publicName?: string;
  notes?: string;
  needs?: string[];
}

const GROUP = 'If the snitch is made:';

const OPTIONS: readonly [flags: string, description: string][] = [
  ['--interval <interval>', 'how often the job runs: daily, hourly, 15m, 2h, weekly and so on'],
  ['--cron <expression>', 'when the job is due: five fields, or @daily and the like'],
  ['--calendar <expression>', 'the same in the form of OnCalendar= in systemd'],
  ['--every <duration>', 'this long after its last check-in, such as 90m'],
  ['--timezone <zone>', 'of the schedule (default: that of the case)'],
  ['--grace <duration>', 'how long after it is due to alert (default: follows from the schedule)'],
  ['--max-runtime <duration>', 'how long a run may take'],
  ['--min-runtime <duration>', 'a run that takes less counts as an error'],
  ['--failures-before-alert <count>', 'alert only after this many errors in a row'],
];

/** What else `snitch create` accepts. */
const DETAILS: readonly [flags: string, description: string][] = [
  ['--alert-type <type>', 'basic: a fixed deadline; smart: a learned, earlier one'],
  ['--public-name <name>', 'its name on the status page'],
  ['--notes <text>', 'notes for those who are alerted'],
];

const LISTS: readonly [flags: string, description: string][] = [
  ['--expect <expectation>', 'what it must report; repeat it for several (see `snitch help edit`)'],
  ['--tag <tag>', 'a tag; repeat it for several'],
  ['--alert-email <address>', 'alert this address instead of the members; repeat it for several'],
  [
    '--needs <snitch>',
    'do not alert about its silence while this one is missing: a name, a token or tag:TAG',
  ],
];

export function addMakeOptions(command: Command): Command {
  command.option('--create', 'if no snitch has this name, create it with this check-in; needs a key');
  for (const [flags, description] of [...OPTIONS, ...DETAILS]) {
    command.addOption(new Option(flags, description).helpGroup(GROUP));
  }
  for (const [flags, description] of LISTS) {
    command.addOption(new Option(flags, description).argParser(collect).helpGroup(GROUP));
  }
  return command;
}

/** Whether any option describes a snitch that may have to be made. */
export function isDescribed(flags: MakeFlags): boolean {
  const { create, interval, cron, calendar, every, timezone, grace } = flags;
  const { maxRuntime, minRuntime, failuresBeforeAlert, expect } = flags;
  const { tag, alertType, alertEmail, publicName, notes, needs } = flags;
  const due = [create, interval, cron, calendar, every, timezone, grace];
  const runs = [maxRuntime, minRuntime, failuresBeforeAlert, expect];
  const details = [tag, alertType, alertEmail, publicName, notes, needs];
  return [...due, ...runs, ...details].some((given) => given !== undefined);
}

/** @throws UsageError */
function detailsOf({ tag, alertType, alertEmail, publicName, notes, needs }: MakeFlags): [string, string][] {
  if (alertType !== undefined && !/^(basic|smart)$/.test(alertType)) {
    throw new UsageError('--alert-type is basic or smart');
  }
  const single = { alert_type: alertType, public_name: publicName, notes };
  return [
    ...(tag === undefined ? [] : [['tags', tag.join(',')] as [string, string]]),
    ...Object.entries(single).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
    ...(alertEmail === undefined ? [] : [['alert_email', alertEmail.join(',')] as [string, string]]),
    ...(needs ?? []).map((one): [string, string] => ['needs', one]),
  ];
}

export interface Making {
  /** The new snitch as the query of a check-in address describes it; absent if none is to be made. */
  make?: string;
  /** Why none can be made, in words; null if nothing is wrong. */
  problem: string | null;
}

/**
 * Never throws: whatever is wrong with these options, a check-in of an existing snitch counts.
 *
 * @param given whom the check-in is for; null if that is not known
 */
export function makingOf(flags: MakeFlags, given: string | null): Making {
  try {
    const made = newSnitchOf(flags);
    if (made.make !== undefined && given !== null && (looksLikeToken(given) || looksLikeAddress(given))) {
      throw new UsageError('--create needs the name of the snitch, and neither a token nor an address');
    }
    return { ...made, problem: null };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function newSnitchOf(flags: MakeFlags): { make?: string } {
  const { create, interval } = flags;
  const { schedule, timezone, grace } = dueOf(flags);
  if (!create) {
    if (isDescribed(flags)) throw new UsageError('the snitch is described, but not made without --create');
    return {};
  }
  if (!schedule && interval === undefined) {
    throw new UsageError('--create needs --interval, or one of --cron, --calendar and --every');
  }
  if (timezone && !schedule) {
    throw new UsageError('--timezone is that of a schedule, and there is none');
  }
  const query = new URLSearchParams();
  if (interval !== undefined) query.set('interval', intervalOf(interval));
  for (const [kind, value] of Object.entries(schedule ?? {})) query.set(kind, String(value));
  if (timezone) query.set('timezone', timezone);
  if (grace !== undefined && grace !== null) query.set('grace', String(grace));
  for (const [name, value] of detailsOf(flags)) query.append(name, value);
  const { expect, ...counts } = { ...runOf(flags), ...rulesOf(flags) };
  for (const [name, value] of Object.entries(counts)) if (value) query.set(name, String(value));
  if (expect) query.set('expect', JSON.stringify(expect));
  return { make: query.toString() };
}
