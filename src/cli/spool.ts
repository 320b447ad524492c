/** `snitch spool list` and `flush`: check-ins of `snitch exec` that wait for the server. */
import type { Command } from 'commander';
import { addOutputOptions, type Register, withCrontab, withExamples } from './command.ts';
import { findCheckInAddress } from './connection.ts';
import { EXIT } from './exit-codes.ts';
import { Output, type OutputFlags, say, shownTime, type View } from './output.ts';
import { countUnusable, read, spoolDirectory, spoolPath, waiting } from './spool-directory.ts';
import { type KeptCheckIn, shortToken } from './spool-entry.ts';
import { flush } from './spool-flush.ts';

const NOTES = `
The spool is $SNITCH_SPOOL_DIR, else $STATE_DIRECTORY/spool, else $XDG_STATE_HOME/snitch/spool, else
~/.local/state/snitch/spool. What waits there counts for its own time when it is sent, up to 7 days later.`;

export const register: Register = (program, finish) => {
  const spool = program
    .command('spool')
    .description('check-ins of `snitch exec` that wait for the server')
    .addHelpText('after', NOTES);
  withExamples(spool, 'snitch spool list', 'snitch spool flush');
  addList(spool);
  addFlush(spool, finish);
};

/** What is shown of a check-in that waits. */
interface Waiting {
  file: string;
  at: string;
  /** What it says: `start`, `fail` or an exit status. */
  kind: string;
  /** The beginning of its token. */
  token: string;
  /** What its address begins with, where that was known. */
  server: string | null;
  message: string | null;
}

const WAITING_VIEW: View<Waiting> = {
  name: ({ file }) => file,
  id: ({ file }) => file,
  empty: 'nothing waits',
  columns: [
    { header: 'WHEN', cell: ({ at }, style) => shownTime(at, style) },
    { header: 'WHAT', cell: ({ kind }) => (/^\d/.test(kind) ? `exit ${kind}` : kind) },
    { header: 'TOKEN', cell: ({ token }) => token },
    { header: 'SERVER', cell: ({ server }) => server ?? '', shrinkTo: 16 },
    { header: 'MESSAGE', cell: ({ message }) => message ?? '', shrinkTo: 12, optional: true },
    { header: 'FILE', cell: ({ file }) => file, wide: true },
  ],
};

function addList(spool: Command): void {
  const list = spool
    .command('list')
    .description('list what waits, the oldest first')
    .action((flags: OutputFlags) => listSpool(flags));
  withExamples(addOutputOptions(list), 'snitch spool list', 'snitch spool list --json');
}

async function listSpool(flags: OutputFlags): Promise<void> {
  const directory = spoolDirectory();
  const found: Waiting[] = [];
  for (const file of await waiting(directory)) {
    const checkIn = await read(spoolPath(directory, file));
    if (checkIn === 'unusable')
      say(`${spoolPath(directory, file)} cannot be read: the next flush sets it aside`);
    else if (checkIn !== null) found.push(shown(file, checkIn));
  }
  new Output(flags).list(found, WAITING_VIEW);
  const unusable = await countUnusable(directory);
  if (unusable > 0) say(`${unusable} unusable files are in ${spoolPath(directory, 'unusable')}`);
}

function shown(file: string, { at, suffix, token, base, message }: KeptCheckIn): Waiting {
  const time = new Date(at).toISOString();
  return { file, at: time, kind: suffix, token: shortToken(token), server: base, message };
}

interface FlushFlags {
  url?: string;
  quiet?: boolean;
}

function addFlush(spool: Command, finish: (code: number) => void): void {
  const flushing = spool
    .command('flush')
    .description('send what waits, the oldest first')
    .option('--url <url>', 'server of those that were kept without knowing theirs (or SNITCH_URL)')
    .option('-q, --quiet', 'no message where all went well')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is left, 1 something was dropped or set aside, 5 some wait on.',
    )
    .action(async (flags: FlushFlags) => finish(await flushSpool(flags)));
  withExamples(flushing, 'snitch spool flush', 'snitch spool flush -q --url http://127.0.0.1:7676');
  withCrontab(flushing, (snitch) => [`*/10 * * * * ${snitch} spool flush -q`]);
}

async function flushSpool(flags: FlushFlags): Promise<number> {
  const { base } = findCheckInAddress(flags.url === undefined ? {} : { url: flags.url });
  const signal = new AbortController().signal;
  const { sent, left, reasons, problems } = await flush({ directory: spoolDirectory(), base, signal });
  for (const line of [...problems, ...reasons]) say(`snitch: ${line}`);
  if (left > 0) say(`snitch: sent ${sent}, ${left} wait on`);
  else if (!flags.quiet) say(sent === 0 ? 'nothing waits' : `sent ${sent}`);
  if (left > 0) return EXIT.unreachable;
  return problems.length > 0 ? EXIT.error : EXIT.ok;
}
