/** `snitch apply`, `diff` and `export`: snitches as a file that is kept under version control. */
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Client } from '../../api/client.ts';
import {
  addClientOptions,
  type ClientFlags,
  type Register,
  required,
  withExamples,
} from '../command/command.ts';

import { placeOf } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { canAsk, confirm } from '../command/prompt.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { Output, say } from '../output/output.ts';
import { outliveReader } from '../output/pieces.ts';
import { tellNextRuns } from './applied-runs.ts';
import { planFor } from './apply-check.ts';
import { differs, type Plan, sendsSecrets } from './apply-plan.ts';
import { carryOutInRounds } from './apply-rounds.ts';
import { carryOut, patiently } from './apply-steps.ts';
import { carryOutChannels } from './channel-steps.ts';
import { planLines, planSummary } from './diff-view.ts';
import { type ExportFlags, exportCase } from './export.ts';
import { strangeness } from './owners.ts';
import { readSnitchFile, type SnitchFile } from './snitch-file.ts';

interface FileFlags extends ClientFlags {
  file?: string;
  prune?: boolean;
  takeOver?: string;
}

interface DiffFlags extends FileFlags {
  exitCode?: boolean;
}

interface ApplyFlags extends FileFlags {
  yes?: boolean;
  confirm?: string;
}

const FILE_FORM = `
The file:
  owner: web-servers          identifies this file, wherever it is; null: it keeps nothing
                              (default: its name without .yaml)
  case:                       settings of the case; each may be left out
    name: Example
    timezone: Europe/Berlin
    members: [ann@example.com]
    reminders: period         period, hourly, daily or off
  channels:                   without this, an apply leaves the channels alone
    - kind: ntfy              as in \`snitch channel add\`
      name: ops               (default: its kind); kind and name identify it
      settings: {server: https://ntfy.example.com, topic: ops}
      secret_file: token      file with its secret, beside this file;
                              for several: {token: FILE};
                              null keeps what the server has
      events: [missing]       as in \`snitch channel add\`; may be left out
      tags: [db]
      after: 30m
      hours: {days: [mon], from: '08:00', to: '18:00'}
  snitches:
    - name: nightly-backup
      interval: daily         as in \`snitch create\`
      schedule:               instead of interval, with one of these
        cron: '0 3 * * 1-5'
        calendar: Mon..Fri 03:00
        every: 90m
      timezone: Asia/Tokyo    of the schedule (default: that of the case)
      grace: 10m              how long after it is due to alert
      max_runtime: 2h         how long a run may take from its reported start
      min_runtime: 5m         how long it takes at least; less counts as an error
      failures_before_alert: 3        this many errors in a row before it is errored
      expect: [bytes>=1M, rows=10..20]        what it reports, as in \`snitch create\`
      needs: [web1, tag:network]      names or tokens, as in \`snitch create\`; [] drops them
      alert_type: basic       this and the rest may be left out, for the default
      alert_email: [ops@example.com]
      tags: [production, db]
      notes: what to do when it is missing
      token: c2354d53d2       to keep a token, to rename, or if names repeat
      owner: other            if another file keeps this one; null if none does

If the entry of a snitch names none of schedule, timezone and grace, it keeps those it has; \`schedule: null\` drops the
schedule. The same goes for max_runtime, min_runtime, failures_before_alert and expect: naming one of them sets all four.
An entry without a token is matched by name; a snitch of that name that somebody made by hand is adopted. Snitches that
the file does not name are left alone without --prune, which never touches what another owner keeps. Channels belong to
the case, not to a file: if a file has \`channels:\`, --prune deletes all that it does not name, so only one file should
have them. A secret from a file is sent with each apply, because the server never shows whether it differs; --exit-code
does not count it. To rename an owner, write the new name and apply with --take-over OLD once.`;

export const register: Register = (program, finish) => {
  const apply = addFileOptions(program.command('apply'))
    .description('make the snitches and the case match a file')
    .option('--prune', 'delete what an earlier apply of this file kept and the file no longer names')
    .option('--confirm <count>', 'how many snitches and channels --prune will delete')
    .option('-y, --yes', 'do not ask; needed without a terminal')
    .action((flags: ApplyFlags) => applyFile(flags))
    .addHelpText('after', FILE_FORM);
  withExamples(
    addClientOptions(apply),
    'snitch apply -f snitches.yaml',
    'snitch apply -f snitches.yaml --yes',
    'snitch apply -f snitches.yaml --prune --confirm=2',
  );
  const diff = addFileOptions(program.command('diff'))
    .description('show what an apply of a file would change')
    .option('--prune', 'also what an apply with --prune would delete')
    .option('--exit-code', 'exit with 1 if something would change, and with 0 if nothing would')
    .action(async (flags: DiffFlags) => finish(await showDiff(flags)))
    .addHelpText('after', FILE_FORM);
  withExamples(
    addClientOptions(diff),
    'snitch diff -f snitches.yaml',
    'snitch diff -f snitches.yaml --exit-code --quiet',
  );
  const exporting = program
    .command('export')
    .description('print the snitches and the settings of the case as a file for `snitch apply`')
    .option('--owner <name>', 'only the snitches that the file of this name keeps')
    .option('--no-tokens', 'without tokens: an apply elsewhere makes new ones')
    .action((flags: ExportFlags) => exportCase(flags));
  withExamples(
    addClientOptions(exporting),
    'snitch export > snitches.yaml',
    'snitch export --owner web-servers',
    'snitch export --url https://old.example.com | snitch apply -f - --yes',
  );
};

function addFileOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the file; - reads it from the standard input (required)')
    .option('--take-over <owner>', 'from now on also keep what the file of this owner kept');
}

async function planOfFile(client: Client, flags: FileFlags): Promise<{ plan: Plan; file: SnitchFile }> {
  const file = readSnitchFile(required(flags.file, '--file'));
  if (flags.prune && file.owner === null) {
    throw new UsageError(
      '--prune deletes what the owner of the file kept, and this one has none: write `owner: NAME` instead of `owner: null`',
    );
  }
  const plan = await planIn(client, file, flags);
  const strange = strangeness(plan);
  if (strange !== null) say(strange);
  if (plan.dueElsewhere.length > 0) say(dueElsewhere(plan.dueElsewhere));
  if (plan.runsElsewhere.length > 0) say(runsElsewhere(plan.runsElsewhere));
  return { plan, file };
}

function planIn(client: Client, file: SnitchFile, flags: FileFlags): Promise<Plan> {
  const { prune = false, takeOver = null } = flags;
  return patiently(() => planFor(client, file, { prune, takeOver }));
}

function some(names: readonly string[]): string {
  const named = names.slice(0, 3).map((name) => `"${name}"`);
  return `${named.join(', ')}${names.length > named.length ? ` and ${names.length - named.length} more` : ''}`;
}

function runsElsewhere(names: readonly string[]): string {
  return `left as it is, because the file does not say it: how the runs of ${some(names)} must look; \`snitch export\` shows how to write it, and \`expect: null\`, \`max_runtime: null\` and so on drop it`;
}

function dueElsewhere(names: readonly string[]): string {
  return `left as it is, because the file names no schedule and no grace: when ${some(names)} is due; \`snitch export\` shows how to write it, and \`schedule: null\` goes back to the interval`;
}

async function showDiff(flags: DiffFlags): Promise<number> {
  required(flags.file, '--file');
  const { plan } = await planOfFile(connect(flags), flags);
  show(new Output(flags), plan, flags.prune ?? false);
  return flags.exitCode && differs(plan, flags.prune ?? false) ? EXIT.error : EXIT.ok;
}

function show(output: Output, plan: Plan, prune: boolean): void {
  if (output.format === 'json') {
    const {
      conflicts: _none,
      dueElsewhere: _said,
      runsElsewhere: _too,
      needs: _last,
      sameNamed: _names,
      ...shown
    } = plan;
    output.json(shown);
    return;
  }
  if (!output.quiet) output.lines(planLines(plan, prune, output.style));
  output.done(planSummary(plan, prune));
}

async function applyFile(flags: ApplyFlags): Promise<void> {
  required(flags.file, '--file');
  const prune = flags.prune ?? false;
  if (flags.confirm !== undefined && !/^\d+$/.test(flags.confirm)) {
    throw new UsageError(`--confirm: "${flags.confirm}" is no number`);
  }
  if (flags.confirm !== undefined && !prune) throw new UsageError('--confirm goes with --prune');
  const client = connect(flags);
  const output = new Output(flags);
  const { plan, file } = await planOfFile(client, flags);
  outliveReader();
  show(output, plan, prune);
  if (!differs(plan, prune) && !sendsSecrets(plan)) return;
  if (prune) checkCount(plan, flags.confirm);
  await ask(flags);
  const done = await carryOutInRounds(plan, {
    carryOut: async (one) => {
      if (one.channels) await carryOutChannels(client, one.channels, prune);
      await carryOut(client, one, prune);
    },
    planAgain: (before) => planAgain(before, { client, file, output, flags }),
  });
  output.done('applied');
  await tellNextRuns(client, output, done);
  if (!file.namesOwner) {
    output.hint(
      `write \`owner: ${file.owner}\` as the file's first line: that identifies it, wherever it is`,
    );
  }
  const gone = countGone(plan);
  if (gone > 0 && !prune) {
    output.hint(`to delete what is not in the file: --prune --confirm=${gone}`);
  }
}

interface Again {
  client: Client;
  file: SnitchFile;
  output: Output;
  flags: ApplyFlags;
}

/** The user agreed only to what was shown: nothing else is deleted, and anything else is asked about if possible. */
async function planAgain(before: Plan, { client, file, output, flags }: Again): Promise<Plan> {
  const plan = await planIn(client, file, flags);
  if (isDeepStrictEqual(plan, before)) return plan;
  const prune = flags.prune ?? false;
  if (prune && !isPartOf(plan, before)) {
    throw new Failure(
      'somebody else changed the case in the meantime, and --prune would delete more than it showed: run this again',
    );
  }
  output.done(
    'the server refused some of it, perhaps because somebody else changed the case at the same time: this is left',
  );
  if (output.format !== 'json') show(output, plan, prune);
  if (differs(plan, prune)) await ask(flags);
  return plan;
}

function isPartOf(after: Plan, before: Plan): boolean {
  const goneOf = ({ gone, channels }: Plan) => [
    ...gone.map(({ token }) => token),
    ...(channels?.gone ?? []).map(({ id }) => id),
  ];
  const shown = new Set(goneOf(before));
  return goneOf(after).every((one) => shown.has(one));
}

function countGone({ gone, channels }: Plan): number {
  return gone.length + (channels?.gone.length ?? 0);
}

/** Having to type the number of deletions makes sure that somebody has looked at them. */
function checkCount(plan: Plan, confirmed: string | undefined): void {
  const gone = countGone(plan);
  if (gone === 0 && confirmed === undefined) return;
  const channels = plan.channels?.gone.length ?? 0;
  const snitches = [
    ...(channels < gone || gone === 0 ? [countOf(gone - channels, 'snitch', 'snitches')] : []),
    ...(channels > 0 ? [countOf(channels, 'channel', 'channels')] : []),
  ].join(' and ');
  if (confirmed === undefined) {
    throw new UsageError(`--prune would delete ${snitches}: confirm it with --confirm=${gone}`);
  }
  if (Number(confirmed) !== gone) {
    throw new Failure(`--prune would delete ${snitches}, not ${confirmed}: nothing was changed`);
  }
}

async function ask(flags: ApplyFlags): Promise<void> {
  const { yes, file } = flags;
  if (yes) return;
  if (file === '-' || !canAsk()) {
    throw new UsageError('nothing was changed: applying needs --yes without a terminal to ask on');
  }
  if (!(await confirm(`Apply${placeOf(flags)}? [y/N] `))) throw new Failure('nothing was changed');
}
