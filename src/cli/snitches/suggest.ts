/** `snitch suggest`: what a snitch should be set to, judging by what its job did. */
import type { Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { instantsAfter, readSchedule, type ScheduleRule } from '../../core/schedule/schedule.ts';
import type { Outlook } from '../../core/suggestion/outlook.ts';
import type { SuggestedExpectation } from '../../core/suggestion/runs.ts';
import type { SuggestedSchedule, Suggestion } from '../../core/suggestion/suggest.ts';
import { durationInWords, runDuration, SECOND, shortDuration } from '../../text/durations.ts';
import { weekdayTime } from '../../text/times.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { placeOf } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { UsageError } from '../failure/failure.ts';
import { type Field, Output, renderFields, type View } from '../output/output.ts';
import { clockOf } from '../output/zone-clock.ts';
import { applyProposals, boundsInWords, consider, foundAfter } from './apply-suggestion.ts';
import { type Suggested, settingWords, suggestOne } from './suggestion-of.ts';

/** How many runs of a suggested schedule are shown. */
const NEXT_RUNS = 3;

export const register: Register = (program) => {
  const command = program
    .command('suggest')
    .description('suggest a schedule, grace and limits from the check-ins on record')
    .argument('[snitch...]', 'tokens, or names (default: all)')
    .option('--apply', 'apply each suggestion that is better than the current setting')
    .option('-f, --force', 'with --apply do not ask; needed without a terminal')
    .option('--yes', 'the same as --force')
    .action((names: string[], flags: SuggestFlags) => suggestFor(names, flags));
  withExamples(
    addClientOptions(command),
    'snitch suggest nightly-backup',
    'snitch suggest --json',
    'snitch suggest --apply nightly-backup weekly-report',
  );
};

interface SuggestFlags extends ClientFlags {
  apply?: boolean;
  force?: boolean;
  yes?: boolean;
}

async function suggestFor(names: readonly string[], flags: SuggestFlags): Promise<void> {
  if ((flags.force || flags.yes) && !flags.apply) {
    throw new UsageError('--force goes with --apply: without it nothing is changed');
  }
  const client = connect(flags);
  const snitches = names.length === 0 ? await client.listSnitches() : await resolveSnitches(client, names);
  const { timezone } = await client.getCase();
  const found: Suggested[] = [];
  for (const snitch of snitches) found.push(await suggestOne(client, snitch, timezone));
  const output = new Output(flags);
  if (flags.apply) return applyFound(client, found, timezone, output, flags);
  const [first] = found;
  if (names.length !== 1 || !first) output.list(found, VIEW, found.map(wireOf));
  else if (output.format === 'table' || output.format === 'wide') {
    output.lines(renderFields(fieldsOf(first, timezone, output.style.now), output.style));
  } else output.record(first, [], VIEW, wireOf(first));
}

async function applyFound(
  client: Client,
  found: readonly Suggested[],
  timezone: string,
  output: Output,
  flags: SuggestFlags,
): Promise<void> {
  const considered = found.map((suggested) => consider(suggested, timezone));
  const changed = await applyProposals(client, considered, output, {
    force: flags.force || flags.yes,
    place: placeOf(flags),
  });
  const isChanged = ({ snitch }: Suggested) => changed.some((one) => one.snitch.token === snitch.token);
  if (output.format === 'json') {
    output.json(
      considered.map(({ suggested, left }) => ({
        ...wireOf(suggested),
        applied: isChanged(suggested),
        left_because: left,
      })),
    );
  } else if (output.quiet || output.format === 'name') output.list(found.filter(isChanged), VIEW);
}

const VIEW: View<Suggested> = {
  name: ({ snitch }) => snitch.name,
  id: ({ snitch }) => snitch.token,
  empty: 'no snitches yet',
  columns: [
    { header: 'NAME', cell: ({ snitch }) => snitch.name, shrinkTo: 12 },
    { header: 'NOW', cell: ({ snitch }) => nowOf(snitch), optional: true },
    {
      header: 'SUGGESTED',
      cell: ({ suggestion: { schedule } }) => (schedule ? ruleInWords(schedule.rule) : 'none'),
    },
    { header: 'ZONE', cell: ({ suggestion }) => suggestion.schedule?.timezone ?? '', optional: true },
    {
      header: 'GRACE',
      cell: ({ suggestion: { schedule } }) => (schedule ? shortDuration(schedule.grace * SECOND) : ''),
      align: 'right',
    },
    { header: 'FALSE', cell: ({ suggestion }) => fromTo(suggestion, ({ falseAlarms }) => `${falseAlarms}`) },
    { header: 'FOUND AFTER', cell: ({ suggestion }) => fromTo(suggestion, foundAfter), optional: true },
  ],
};

function nowOf({ schedule, interval }: WireSnitch): string {
  return schedule ? ruleInWords(schedule) : interval;
}

function fromTo({ present, schedule }: Suggestion, shown: (outlook: Outlook) => string): string {
  return present && schedule ? `${shown(present)} -> ${shown(schedule.outlook)}` : '';
}

function ruleInWords(rule: ScheduleRule): string {
  if ('cron' in rule) return rule.cron;
  return 'calendar' in rule ? rule.calendar : `every ${durationInWords(rule.every * SECOND)}`;
}

function fieldsOf({ snitch, suggestion }: Suggested, ofCase: string, now: number): Field[] {
  const { schedule, unfit, seen, runtime, expect, present } = suggestion;
  const clock = clockOf(schedule?.timezone ?? 'UTC');
  const at = (instant: number) => clock.at(new Date(instant).toISOString());
  const span = seen.from === null || seen.to === null ? '' : `, from ${at(seen.from)} to ${at(seen.to)}`;
  return [
    { label: 'Name', text: snitch.name },
    { label: 'Looked at', text: `${seen.count} check-ins that ended a run${span} (${clock.zone})` },
    ...(schedule && present
      ? scheduleFields(settingWords(snitch, ofCase), schedule, present, now)
      : [{ label: 'Schedule', text: `none fits: ${unfit}` }]),
    {
      label: 'Max runtime',
      text: runtime
        ? `${durationInWords(runtime.seconds * SECOND)}: ${runtime.seen.count} runs took ${range(runtime.seen, runDuration)}`
        : 'unknown: at least 5 runs have to report their start, as `snitch exec` does',
    },
    ...expect.map((expectation) => ({ label: expectation.value, text: expected(expectation) })),
  ];
}

function scheduleFields(
  set: string,
  { rule, timezone, grace, lateness, missed, outlook }: SuggestedSchedule,
  present: Outlook,
  now: number,
): Field[] {
  const { earliest, usual, latest } = lateness;
  const from = earliest < 0 ? `${durationInWords(-earliest)} before` : durationInWords(earliest);
  const until = `${durationInWords(Math.max(0, latest))} after their time, usually ${durationInWords(Math.max(0, usual))}`;
  const beside = (shown: (of: Outlook) => string) =>
    `${shown(outlook)}; as it is set now (${set}) ${shown(present)}`;
  return [
    { label: 'Schedule', text: `${ruleInWords(rule)} in ${timezone}` },
    { label: 'Next runs', text: nextRuns(rule, timezone, now) },
    {
      label: 'Grace',
      text: `${durationInWords(grace * SECOND)}: check-ins came from ${from} to ${until}`,
    },
    { label: 'Missed runs', text: `${missed}` },
    { label: 'False alarms', text: beside(({ falseAlarms }) => `${falseAlarms}`) },
    { label: 'Miss told after', text: beside(foundAfter) },
  ];
}

/** Shown so that a wrong suggestion is seen at once. A rule that counts from the last check-in has no fixed times. */
function nextRuns(rule: ScheduleRule, timezone: string, now: number): string {
  if ('every' in rule) return 'so long after each check-in';
  const runs = instantsAfter(readSchedule(rule, timezone), now, NEXT_RUNS);
  return runs.map((at) => weekdayTime(at, timezone)).join('\n');
}

function range<T extends { least: number; usual: number; most: number }>(
  { least, usual, most }: T,
  shown: (value: number) => string,
): string {
  return `${shown(least)} to ${shown(most)}, usually ${shown(usual)}`;
}

function expected(expectation: SuggestedExpectation): string {
  return `${boundsInWords(expectation)}; it was ${range(expectation.seen, String)}`;
}

/** What `--json` prints: names and units as the API has them, lengths in seconds. */
function wireOf({ snitch, suggestion }: Suggested) {
  const { seen, schedule, unfit, present, runtime, expect } = suggestion;
  return {
    token: snitch.token,
    name: snitch.name,
    check_ins: seen.count,
    from: seen.from === null ? null : new Date(seen.from).toISOString(),
    to: seen.to === null ? null : new Date(seen.to).toISOString(),
    present: present && wireOutlook(present),
    suggested: schedule && {
      schedule: schedule.rule,
      timezone: schedule.timezone,
      grace: schedule.grace,
      lateness: {
        earliest: schedule.lateness.earliest / SECOND,
        usual: schedule.lateness.usual / SECOND,
        latest: schedule.lateness.latest / SECOND,
      },
      missed_runs: schedule.missed,
      ...wireOutlook(schedule.outlook),
    },
    unfit,
    max_runtime: runtime && {
      seconds: runtime.seconds,
      earliest: runtime.seen.least / SECOND,
      usual: runtime.seen.usual / SECOND,
      latest: runtime.seen.most / SECOND,
    },
    expect: expect.map(({ value, min, max, ofUsual, required, seen: { least, usual, most } }) => ({
      ...{ value, min, max, of_usual: ofUsual, required },
      ...{ least, usual, most },
    })),
  };
}

function wireOutlook({ falseAlarms, found, unnoticed, foundAfter: length }: Outlook) {
  return {
    false_alarms: falseAlarms,
    found,
    unnoticed,
    found_after: length === null ? null : Math.round(length / SECOND),
  };
}
