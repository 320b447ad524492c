/** `snitch create`, `edit` and `tag`: make and change snitches. */
import { type Command, Option } from 'commander';
import type { Client, SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  collectAnew,
  type Register,
  withExamples,
} from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { UsageError } from '../failure/failure.ts';
import { intervalOf } from '../output/interval-words.ts';
import { scheduleWords } from '../output/next-runs.ts';
import { Output, say } from '../output/output.ts';
import { SNITCH_VIEW, snitchFields } from '../output/snitch-view.ts';
import { askForSchedules, checkKept, tellNextRuns } from './due-answer.ts';
import { addDueOptions, type DueFlags, dueOf } from './due-flags.ts';
import { addNeedOptions, addNeedRemovals, type NeedFlags, needsOf } from './need-flags.ts';
import { addRuleOptions, addRuleRemovals, type RuleFlags, rulesOf } from './rule-flags.ts';
import { addRunOptions, addRunRemovals, type RunFlags, runOf } from './run-flags.ts';

interface FieldFlags extends ClientFlags, DueFlags, RunFlags, RuleFlags, NeedFlags {
  interval?: string;
  alertType?: string;
  tag?: string[];
  publicName?: string;
  notes?: string;
  /** False for `--no-alert-email`. */
  alertEmail?: string[] | false;
}

export const register: Register = (program) => {
  const create = program
    .command('create')
    .description('create a snitch')
    .argument('<name>', 'its name')
    .option(
      '-i, --interval <interval>',
      'how often the job runs: daily, hourly, 15m, 2h, weekly and so on (required without a schedule)',
    );
  addFieldOptions(addNeedOptions(addRuleOptions(addRunOptions(addDueOptions(create))))).action(
    (name: string, flags: FieldFlags) => createSnitch(name, flags),
  );
  withExamples(
    addClientOptions(create),
    'snitch create nightly-backup --interval daily',
    `snitch create report --cron '0 3 * * 1-5' --timezone Europe/Berlin --grace 10m`,
    `snitch create backup -i daily --min-runtime 5m --expect 'bytes>=1M' --expect 'bytes=0.5x..3x'`,
    `snitch create certificates --calendar 'Mon *-*-* 04:00'`,
    `snitch create import --cron '@daily' --max-runtime 2h`,
    'snitch create web-backup -i daily --needs web1 --needs tag:network',
    'snitch create "mail queue" -i 5m -t mail -t production --notes "see the runbook"',
    'token=$(snitch create nightly-backup -i daily -q)',
  );

  addEdit(program);
  addTag(program);
};

function addEdit(program: Command): void {
  const edit = program
    .command('edit')
    .description('change a snitch; what you do not name stays as it is')
    .argument('<snitch>', 'its token, or its name')
    .option('--name <name>', 'a new name')
    .option(
      '-i, --interval <interval>',
      'how often the job runs; this restarts the deadline, and replaces a schedule',
    )
    .option('--no-alert-email', 'alert the members of the case again');
  const fields = addFieldOptions(addNeedOptions(addRuleOptions(addRunOptions(addDueOptions(edit)))));
  addNeedRemovals(addRuleRemovals(addRunRemovals(fields)))
    .option('--no-schedule', 'drop the schedule: the interval decides again')
    .option('--no-timezone', 'read the schedule in the time zone of the case')
    .option('--no-grace', 'the grace that follows from the schedule; none without a schedule')
    .option('--no-tags', 'remove all tags')
    .action((name: string, flags: EditFlags) => editSnitch(name, flags));
  withExamples(
    addClientOptions(edit),
    'snitch edit nightly-backup --interval weekly',
    `snitch edit nightly-backup --cron '30 2 * * *' --grace 20m`,
    'snitch edit nightly-backup --no-schedule',
    'snitch edit nightly-backup --max-runtime 90m',
    'snitch edit nightly-backup --failures-before-alert 3 --no-expect',
    'snitch edit nightly-backup --needs web1',
    'snitch edit nightly-backup --name weekly-backup --notes ""',
  );
}

function addFieldOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--alert-type <type>', 'basic: a fixed deadline; smart: a learned, earlier one').choices([
        'basic',
        'smart',
      ]),
    )
    .option('-t, --tag <tag>', 'a tag; repeat it for several (in `edit` they replace all)', collect)
    .option('--public-name <name>', 'its name on the status page; "" for the real one')
    .option('--notes <text>', 'notes for those who are alerted')
    .option(
      '--alert-email <address>',
      'alert this address instead of the members; repeat it for several',
      collectAnew,
    );
}

function fieldsOf(flags: FieldFlags): SnitchInput {
  const input: SnitchInput = { ...dueOf(flags), ...runOf(flags), ...rulesOf(flags) };
  if (flags.interval !== undefined) input.interval = intervalOf(flags.interval);
  if (flags.alertType !== undefined) input.alert_type = flags.alertType;
  if (flags.tag !== undefined) input.tags = flags.tag;
  if (flags.publicName !== undefined) input.public_name = flags.publicName || null;
  if (flags.notes !== undefined) input.notes = flags.notes;
  if (Array.isArray(flags.alertEmail)) input.alert_email = flags.alertEmail;
  return input;
}

const ZONE_WITHOUT_SCHEDULE =
  '--timezone needs a schedule, and there is none: an interval is counted in the time zone of the case';

async function createSnitch(name: string, flags: FieldFlags): Promise<void> {
  const input: SnitchInput = { name, ...fieldsOf(flags) };
  if (!input.schedule && input.interval === undefined) {
    throw new UsageError('give --interval, or one of --cron, --calendar and --every');
  }
  if (input.timezone && !input.schedule) throw new UsageError(ZONE_WITHOUT_SCHEDULE);
  const client = connect(flags);
  await askForSchedules(client, input);
  Object.assign(input, await needsOf(client, flags));
  const snitch = await client.createSnitch(input);
  checkKept(snitch, input, `to undo it: snitch delete ${snitch.token}`);
  const output = new Output(flags, client.now());
  print(output, snitch);
  await tellNextRuns(client, output, snitch);
  if (!output.quiet) await tellOfTwins(client, snitch);
  output.hint(`the job checks in with: curl -fsS -m 10 --retry 5 -o /dev/null ${snitch.check_in_url}`);
  output.hint(`or is run by: snitch exec ${snitch.token} -- COMMAND`);
}

/** Two snitches can have the same name, but it is seldom intended: usually a script was run twice. */
async function tellOfTwins(client: Client, { name, token }: WireSnitch): Promise<void> {
  // The snitch exists by now, so a failure here must not look as if it had not been made.
  const all = await client.listSnitches([], name).catch(() => []);
  const twins = all.filter((other) => other.name === name && other.token !== token);
  if (twins.length === 0) return;
  const others = twins.length === 1 ? 'another snitch has' : `${twins.length} other snitches have`;
  say(
    `${others} the name "${name}": ${twins
      .slice(0, 3)
      .map((twin) => twin.token)
      .join(', ')}`,
  );
  say(`to undo it, if you did not mean that: snitch delete ${token}`);
}

interface EditFlags extends FieldFlags {
  name?: string;
  /** False for `--no-tags`. */
  tags?: boolean;
}

async function editSnitch(given: string, flags: EditFlags): Promise<void> {
  const changes = fieldsOf(flags);
  if (flags.name !== undefined) changes.name = flags.name;
  if (flags.alertEmail === false) changes.alert_email = [];
  if (flags.tags === false) changes.tags = [];
  if (Object.keys(changes).length === 0 && flags.needs === undefined) {
    throw new UsageError('nothing to change: `snitch help edit` lists what can be changed');
  }
  const client = connect(flags);
  const before = await resolveSnitch(client, given);
  await askForSchedules(client, changes);
  Object.assign(changes, await needsOf(client, flags));
  const isScheduled =
    changes.schedule === undefined ? !changes.interval && before.schedule : changes.schedule;
  if (changes.timezone && !isScheduled) throw new UsageError(ZONE_WITHOUT_SCHEDULE);
  const after = await client.updateSnitch(before.token, changes);
  checkKept(after, changes, 'the other changes were made');
  const output = new Output(flags, client.now());
  print(output, after);
  if (before.schedule && !after.schedule && flags.schedule !== false) {
    output.done(`the interval replaces its schedule, ${scheduleWords(before)}`);
  }
  await tellNextRuns(client, output, after);
}

function print(output: Output, snitch: WireSnitch): void {
  output.record(snitch, snitchFields(snitch, output.style), SNITCH_VIEW);
}

function addTag(program: Command): void {
  const tag = program.command('tag').description('add tags to a snitch, or remove them');
  withExamples(tag, 'snitch tag add nightly-backup production db', 'snitch tag remove nightly-backup db');
  const add = tag
    .command('add')
    .description('add tags to a snitch')
    .argument('<snitch>', 'its token, or its name')
    .argument('<tag...>', 'one or more tags')
    .action((name: string, tags: string[], flags: ClientFlags) => addTags(name, tags, flags));
  withExamples(addClientOptions(add), 'snitch tag add nightly-backup production db');
  const remove = tag
    .command('remove')
    .description('remove tags from a snitch')
    .argument('<snitch>', 'its token, or its name')
    .argument('<tag...>', 'one or more tags')
    .action((name: string, tags: string[], flags: ClientFlags) => removeTags(name, tags, flags));
  withExamples(addClientOptions(remove), 'snitch tag remove nightly-backup db');
}

async function addTags(name: string, tags: readonly string[], flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { token } = await resolveSnitch(client, name);
  printTags(await client.addTags(token, tags), flags);
}

async function removeTags(name: string, tags: readonly string[], flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { token, tags: before } = await resolveSnitch(client, name);
  let left = before;
  for (const tag of tags) left = await client.removeTag(token, tag);
  printTags(left, flags);
}

function printTags(tags: readonly string[], flags: ClientFlags): void {
  const output = new Output(flags);
  if (output.format === 'json') output.json(tags);
  else if (!output.quiet) output.lines(tags.map(printable));
}
