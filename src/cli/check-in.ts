/** `snitch check-in`: what a job calls when it is done. */
import { readValues } from '../core/judgement/values.ts';
import { printable } from '../text/printable.ts';
import {
  addConnectionOptions,
  collect,
  type Register,
  withCrontab,
  withExamples,
} from './command/command.ts';
import { type ConnectionFlags, timeoutOf } from './command/connection.ts';
import { type ServerFlags, typedIn } from './command/servers.ts';
import { EXIT } from './failure/exit-codes.ts';
import { AuthenticationError, Failure, NotFoundError, UsageError } from './failure/failure.ts';
import { say } from './output/output.ts';
import type { KeptCheckIn } from './sending/check-in.ts';
import { addMakeOptions, type MakeFlags, makingOf } from './sending/new-snitch.ts';
import { dispatch, Locator, recipientOf } from './sending/recipient.ts';
import type { Answer } from './sending/send.ts';
import { hiddenToken } from './sending/token.ts';
import { boundSpool, type Delivery, deliver, explainDelivery } from './spool/deliver.ts';
import { spoolDirectory } from './spool/directory.ts';
import { flush } from './spool/flush.ts';

interface CheckInFlags extends ConnectionFlags, MakeFlags {
  tokenFile?: string;
  message?: string;
  status?: string;
  value?: string[];
  quiet?: boolean;
}

const NOTES = `
If the server cannot be reached, the exit code is 5, and the check-in is kept on disk (see \`snitch help spool\`) and sent
later, with the time when it happened.

With --create, the first check-in creates a snitch of this name from the options. An existing one keeps its settings.
This needs a key with the scope \`provision\` or \`write\`.`;

export const register: Register = (program) => {
  const checkIn = program
    .command('check-in')
    .description('check in: say that the job ran, or how it failed')
    .argument('[snitch]', 'its token or whole check-in address, which need no API key; or its name')
    .option(
      '--token-file <file>',
      'read the token from this file, so that nobody sees it (or SNITCH_TOKEN_FILE)',
    )
    .option('-m, --message <text>', 'a short message about the run; 256 characters are kept')
    .option('-s, --status <exit>', 'exit status of the job: 0 is healthy, anything else an error')
    .option(
      '-v, --value <name=number>',
      'a number that the run reports, such as bytes=1234; repeat it for several',
      collect,
    )
    .option('-q, --quiet', 'print no message');
  addMakeOptions(addConnectionOptions(checkIn))
    .addHelpText('after', NOTES)
    .action((name: string | undefined, flags: CheckInFlags) => checkInOnce(givenTo(name, flags), flags));
  withExamples(
    checkIn,
    'snitch check-in nightly-backup',
    `snitch check-in --create --cron '0 3 * * *' nightly-backup`,
    'snitch check-in nightly-backup -v bytes=$(stat -c %s backup.tar)',
    'backup.sh; snitch check-in TOKEN -s $? -m "backup of $(hostname)"',
  );
  withCrontab(checkIn, (snitch) => [`0 3 * * * /opt/backup.sh; ${snitch} check-in TOKEN -s $?`]);
};

/** @throws UsageError if neither the arguments nor a file nor the environment has a token */
function givenTo(name: string | undefined, { tokenFile }: CheckInFlags): string {
  if (name !== undefined) return name;
  const { given, problem } = hiddenToken({ tokenFile, env: process.env });
  if (given === null) throw new UsageError(problem ?? 'no token');
  return given;
}

/** How long sending older check-ins may take after this one was recorded, in milliseconds. */
const FLUSH_WITHIN = 5_000;

async function checkInOnce(given: string, flags: CheckInFlags): Promise<void> {
  const { make, problem: fault } = makingOf(flags, given);
  if (fault !== null)
    say(`snitch: ${fault}; no snitch is created, and this counts only if it exists already`);
  const { url: _, ...others } = flags;
  const { recipient, problem } = recipientOf(given, { ...others, ...typedIn(flags) }, make);
  if (problem !== null && (flags.url || flags.server) !== undefined) throw new UsageError(problem);
  const timeoutMs = timeoutOf(flags);
  const directory = spoolDirectory();
  const said = { message: flags.message ?? null, exitStatus: flags.status ?? null };
  const checkIn: KeptCheckIn = {
    ...recipient,
    ...said,
    suffix: null,
    runId: null,
    at: Date.now(),
    output: Buffer.alloc(0),
    ...valuesOf(flags.value ?? []),
  };
  const sending =
    problem === null
      ? dispatch(checkIn, null, new Locator(timeoutMs, typedIn(flags)), AbortSignal.timeout(timeoutMs))
      : Promise.resolve<Answer>({ kind: 'later', reason: problem, fault: 'server' });
  const delivery = await deliver(directory, checkIn, sending, isKept);
  if (delivery.answer.kind !== 'recorded') throw await failureOf(delivery, directory);
  await flushOthers(directory, recipient.base, typedIn(flags));
  if (flags.quiet || !process.stderr.isTTY) return;
  const { made } = delivery.answer;
  say(made === undefined ? 'checked in' : `checked in: created the snitch "${printable(made)}"`);
}

/**
 * An invalid value, perhaps because the command that should have printed it failed, must not cost the check-in: it is
 * reported and sent as it is, so that the history shows it too.
 */
function valuesOf(given: readonly string[]): Pick<KeptCheckIn, 'values'> {
  if (given.length === 0) return {};
  const values: Record<string, string> = {};
  for (const text of given) {
    const equals = text.indexOf('=');
    const [name, value] =
      equals < 0 ? [text, ''] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
    const { dropped } = readValues([[name, value]]);
    for (const problem of dropped)
      say(`snitch: ${problem}; write -v NAME=NUMBER. The check-in is sent without it`);
    values[name] ??= value;
  }
  return { values };
}

/** A fault of the command is reported to whoever typed it. A server that is away is not their fault. */
function isKept(answer: Answer): boolean {
  return answer.kind === 'later' && answer.fault !== 'key';
}

async function failureOf(delivery: Delivery, directory: string): Promise<Failure> {
  const { answer, checkIn } = delivery;
  if (answer.kind === 'refused' && checkIn.make !== undefined) return new Failure(answer.reason);
  if (answer.kind === 'refused') {
    return new NotFoundError(`${answer.reason}: nothing was recorded\n\`snitch list\` lists them`);
  }
  if (answer.kind === 'later' && answer.fault === 'key') return new AuthenticationError(answer.reason);
  const lines = [...explainDelivery(delivery, directory), ...(await boundSpool(directory))];
  return new Failure(lines.join('\n'), EXIT.unreachable);
}

/**
 * Sends the check-ins that could not be sent earlier. The present one is already recorded, so nothing that happens here
 * makes it fail.
 */
async function flushOthers(directory: string, base: string | null, typed: ServerFlags): Promise<void> {
  try {
    const { problems } = await flush({ directory, base, typed, signal: AbortSignal.timeout(FLUSH_WITHIN) });
    for (const line of problems) say(`snitch: ${line}`);
  } catch (error) {
    say(`snitch: the spool cannot be read: ${(error as Error).message}`);
  }
}
