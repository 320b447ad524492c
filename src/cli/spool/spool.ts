/** `snitch spool`: check-ins that wait for the server, and those it refused. */
import type { Command } from 'commander';
import { addOutputOptions, type Register, withCrontab, withExamples } from '../command/command.ts';
import { findCheckInAddress } from '../command/connection.ts';
import { type ServerFlags, typedIn } from '../command/servers.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { Output, type OutputFlags, say, shownTime, type View } from '../output/output.ts';
import { shownRecipient } from '../sending/check-in.ts';
import {
  countUnusable,
  dropRefused,
  read,
  refusedNames,
  refusedPath,
  retryRefused,
  spoolDirectory,
  spoolPath,
  waiting,
} from './directory.ts';
import type { RefusedCheckIn } from './entry.ts';
import { flush } from './flush.ts';

const NOTES = `
The spool is $SNITCH_SPOOL_DIR, else $STATE_DIRECTORY/spool, else $XDG_STATE_HOME/snitch/spool, else
~/.local/state/snitch/spool. Check-ins wait there for up to 7 days, and are sent with
the time when they happened.

What the server itself refuses, such as a check-in for a snitch that was deleted, is set aside and not sent again
automatically: use \`snitch spool retry\` once the snitch exists, or \`snitch spool drop\` to delete it.`;

export const register: Register = (program, finish) => {
  const spool = program
    .command('spool')
    .description('check-ins that wait for the server, and those it refused')
    .addHelpText('after', NOTES);
  withExamples(spool, 'snitch spool list', 'snitch spool flush', 'snitch spool retry');
  addList(spool);
  addFlush(spool, finish);
  addRetry(spool, finish);
  addDrop(spool);
};

/** What is shown of a check-in that waits or was refused. */
interface Kept {
  file: string;
  state: 'waiting' | 'refused';
  at: string;
  /** `start`, `fail`, an exit status, or `check-in`. */
  kind: string;
  /** Whether it creates its snitch if none has the name. */
  creates: boolean;
  /** The beginning of its token, or the name of its snitch. */
  token: string;
  /** What its address begins with, if that was known. */
  server: string | null;
  message: string | null;
  /** Why it was refused. */
  reason: string | null;
}

/** A check-in that waits to make its snitch says so, since until then no alert can come. */
function whatOf({ kind, creates }: Kept): string {
  const what = /^\d/.test(kind) ? `exit ${kind}` : kind;
  return creates ? `${what}, create` : what;
}

const KEPT_VIEW: View<Kept> = {
  name: ({ file }) => file,
  id: ({ file }) => file,
  empty: 'nothing waits',
  columns: [
    { header: 'WHEN', cell: ({ at }, style) => shownTime(at, style) },
    { header: 'WHAT', cell: whatOf },
    { header: 'SNITCH', cell: ({ token }) => token, shrinkTo: 12 },
    { header: 'STATE', cell: ({ state }) => state },
    { header: 'SERVER', cell: ({ server }) => server ?? '', shrinkTo: 16 },
    {
      header: 'MESSAGE',
      cell: ({ message, reason }) => reason ?? message ?? '',
      shrinkTo: 12,
      optional: true,
    },
    { header: 'FILE', cell: ({ file }) => file, wide: true },
  ],
};

function addList(spool: Command): void {
  const list = spool
    .command('list')
    .description('list what is waiting and what was refused, oldest first')
    .action((flags: OutputFlags) => listSpool(flags));
  withExamples(addOutputOptions(list), 'snitch spool list', 'snitch spool list --json');
}

async function listSpool(flags: OutputFlags): Promise<void> {
  const directory = spoolDirectory();
  const found: Kept[] = [];
  for (const file of await waiting(directory)) {
    const checkIn = await read(spoolPath(directory, file));
    if (checkIn === 'unusable')
      say(`${spoolPath(directory, file)} cannot be read: the next flush sets it aside`);
    else if (checkIn !== null) found.push(shown(file, checkIn, 'waiting'));
  }
  const refused = await refusedNames(directory);
  for (const file of refused) {
    const checkIn = await read(refusedPath(directory, file));
    if (checkIn !== null && checkIn !== 'unusable') found.push(shown(file, checkIn, 'refused'));
  }
  const output = new Output(flags);
  output.list(found, KEPT_VIEW);
  if (refused.length > 0) {
    say(
      `${refused.length} refused: \`snitch spool retry\` sends them again, \`snitch spool drop --all\` deletes them`,
    );
  }
  const unusable = await countUnusable(directory);
  if (unusable > 0) say(`${unusable} unusable files are in ${spoolPath(directory, 'unusable')}`);
}

function shown(file: string, checkIn: RefusedCheckIn, state: Kept['state']): Kept {
  const { at, suffix, base, message, reason } = checkIn;
  return {
    file,
    state,
    at: new Date(at).toISOString(),
    kind: suffix ?? 'check-in',
    creates: checkIn.make !== undefined,
    token: shownRecipient(checkIn),
    server: (checkIn.token === null ? checkIn.server : base) ?? checkIn.serverName ?? null,
    message,
    reason: reason === '' ? null : reason,
  };
}

interface FlushFlags extends ServerFlags {
  quiet?: boolean;
}

const FLUSH_CODES = '\nExit codes: 0 nothing is left, 1 something was set aside, 5 some are still waiting.';

function addFlush(spool: Command, finish: (code: number) => void): void {
  const flushing = spool
    .command('flush')
    .description('send what is waiting, oldest first')
    .option('--url <url>', 'server for check-ins that were kept without one (or SNITCH_URL)')
    .option('--server <name>', 'the same, by its name in cli.yaml (or SNITCH_SERVER)')
    .option('-q, --quiet', 'no message if all went well')
    .addHelpText('after', FLUSH_CODES)
    .action(async (flags: FlushFlags) => finish(await flushSpool(flags)));
  withExamples(flushing, 'snitch spool flush', 'snitch spool flush -q --url http://127.0.0.1:7676');
  withCrontab(flushing, (snitch) => [`*/10 * * * * ${snitch} spool flush -q`]);
}

async function flushSpool(flags: FlushFlags): Promise<number> {
  const typed = typedIn(flags);
  const base = baseFor(typed);
  const signal = new AbortController().signal;
  const { sent, left, reasons, problems } = await flush({ directory: spoolDirectory(), base, typed, signal });
  for (const line of [...problems, ...reasons]) for (const part of line.split('\n')) say(`snitch: ${part}`);
  if (left > 0) say(`snitch: sent ${sent}, ${left} wait on`);
  else if (!flags.quiet) say(sent === 0 ? 'nothing waits' : `sent ${sent}`);
  if (left > 0) return EXIT.unreachable;
  return problems.length > 0 ? EXIT.error : EXIT.ok;
}

/** Check-ins that know their own server need none. @throws UsageError if a server was typed that is not known */
function baseFor(typed: ServerFlags): string | null {
  try {
    return findCheckInAddress(typed).base;
  } catch (error) {
    if (typed.url !== undefined || typed.server !== undefined) throw error;
    return null;
  }
}

function addRetry(spool: Command, finish: (code: number) => void): void {
  const retry = spool
    .command('retry')
    .description('send again what the server refused')
    .argument('[file...]', 'which ones, as `spool list -o wide` shows them (default: all)')
    .option('--url <url>', 'server for check-ins that were kept without one (or SNITCH_URL)')
    .option('--server <name>', 'the same, by its name in cli.yaml (or SNITCH_SERVER)')
    .option('-q, --quiet', 'no message if all went well')
    .addHelpText('after', FLUSH_CODES)
    .action(async (files: string[], flags: FlushFlags) => {
      const directory = spoolDirectory();
      for (const file of await chosen(directory, files)) await retryRefused(directory, file);
      finish(await flushSpool(flags));
    });
  withExamples(retry, 'snitch spool retry');
}

function addDrop(spool: Command): void {
  const drop = spool
    .command('drop')
    .description('delete what the server refused')
    .argument('[file...]', 'which ones, as `spool list -o wide` shows them')
    .option('--all', 'all of them')
    .option('-q, --quiet', 'print no message')
    .action(async (files: string[], flags: { all?: boolean; quiet?: boolean }) => {
      if (files.length === 0 && !flags.all)
        throw new UsageError('nothing was deleted: name files, or use --all');
      const directory = spoolDirectory();
      const names = await chosen(directory, files);
      for (const file of names) await dropRefused(directory, file);
      if (!flags.quiet) say(`deleted ${names.length}`);
    });
  withExamples(drop, 'snitch spool drop --all');
}

/** @throws NotFoundError if one of the files is not there, before anything is done to the others */
async function chosen(directory: string, files: readonly string[]): Promise<readonly string[]> {
  const refused = await refusedNames(directory);
  const unknown = files.find((file) => !refused.includes(file));
  if (unknown !== undefined) throw new NotFoundError(`the spool has no refused check-in ${unknown}`);
  return files.length === 0 ? refused : files;
}
