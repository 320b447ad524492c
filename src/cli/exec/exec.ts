/** `snitch exec`: runs a job, and tells the server how it went. The job behaves as it would without us. */
import { type Command, Option } from 'commander';
import { delay } from '../../system/delay.ts';
import { MINUTE } from '../../text/durations.ts';
import { collect, type Register, withCrontab, withExamples } from '../command/command.ts';
import { parseDuration } from '../command/duration.ts';
import { type ServerFlags, typedIn } from '../command/servers.ts';
import { UsageError } from '../failure/failure.ts';
import { addMakeOptions, isDescribed, type MakeFlags, makingOf } from '../sending/new-snitch.ts';
import { recipientOf } from '../sending/recipient.ts';
import { spoolDirectory } from '../spool/directory.ts';
import { environmentOfJob, readArguments } from './arguments.ts';
import { type JobEnd, startJob } from './job.ts';
import { JobOutput } from './output.ts';
import { RunReport, type ToldEnd } from './report.ts';
import { parseTail } from './tail.ts';
import { tell } from './tell.ts';
import { measure, valueCommandsOf } from './values.ts';

interface ExecFlags extends MakeFlags {
  url?: string;
  server?: string;
  apiKeyFile?: string;
  tokenFile?: string;
  timeout?: string;
  killAfter: string;
  output: 'failure' | 'always' | 'never';
  tail: string;
  value?: string[];
  valueTimeout: string;
}

/** How long to wait for a slow reader of our output before the end of the run is reported, in milliseconds. */
const OUTPUT_WITHIN = 5_000;

/**
 * The longest `--value-timeout`, in milliseconds: well before others consider the kept check-in abandoned and send it.
 */
const LONGEST_VALUES = 5 * MINUTE;

const NOTES = `
The exit code is always that of the job: 128 + the signal that killed it, 127 for a command that is not found, 126
for one that cannot be run, whatever became of the check-ins. Those that did not reach the server are kept on disk (see \`snitch help spool\`) and sent later, with the time when they happened.

Every user of the host can read the arguments of a program (\`ps\`). To keep the token from them, put it into a file for
--token-file or SNITCH_TOKEN_FILE, or into SNITCH_TOKEN; or use the name of the snitch, if this program finds an API key
(\`snitch doctor\` shows whether). SNITCH_TOKEN, SNITCH_API_KEY, SNITCH_ADMIN_KEY and the other secret variables of Snitch
are not passed on to the job.

Signals (TERM, INT, HUP, QUIT, USR1, USR2) go on to the job. --timeout ends the job and everything it started; at a
terminal, which the job shares with you, only the job.

With --create, a job is watched as soon as it is deployed: if no snitch has the name, the first check-in creates one from
the options. An existing one keeps its settings, whatever the options say. This needs a key with the scope \`provision\` or
\`write\`, and \`--\` before the job. A mistake in these options never keeps the job from running.

--value runs its command with /bin/sh after a job that succeeded, and reports the number that it prints, for the snitch
to judge (\`snitch help edit\`, --expect). A command that fails, prints anything else or takes too long (5m at most) is reported
on stderr and in the history; the job's own result and its exit code stay as they are. The time that it takes counts as
part of the run.

If the job fails, the end of its output is sent along; --output changes when. A stream that is a terminal stays one for
the job, and none of it is kept. Redirect the output of processes that the job leaves behind: this program stops reading
a second after the job ends.`;

export const register: Register = (program, finish) => {
  const exec = program
    .command('exec')
    .description('run a job, and check in when it starts and ends')
    .argument('[snitch]', 'its token or whole check-in address, which need no API key; or its name')
    .argument('[command...]', 'the job and its arguments, after --')
    .option(
      '--token-file <file>',
      'read the token from this file, so that nobody sees it (or SNITCH_TOKEN_FILE)',
    )
    .option('--timeout <duration>', 'end the job after this time, and report it as failed')
    .option('--kill-after <duration>', 'how long to wait for it to end before killing it', '10s')
    .addOption(
      new Option('--output <when>', 'when the end of its output is sent')
        .choices(['failure', 'always', 'never'])
        .default('failure'),
    )
    .option('--tail <size>', 'how much of the end of its output is sent; 0 for nothing', '10k')
    .option(
      '--value <name=command>',
      'after the job, report the number that this prints; repeat it for several',
      collect,
    )
    .option('--value-timeout <duration>', 'how long these commands may take together', '1m')
    .option('--url <url>', 'address of the server (or SNITCH_URL)')
    .option('--server <name>', 'the server of that name in cli.yaml (or SNITCH_SERVER)')
    .option('--api-key-file <file>', 'file with the API key, for a name (or SNITCH_API_KEY_FILE)');
  addMakeOptions(exec).addHelpText('after', NOTES);
  exec.action(async (first: string | undefined, rest: string[], flags: ExecFlags) => {
    const operands = [...(first === undefined ? [] : [first]), ...rest];
    finish(await execute(operands, beforeDashes(exec, operands), flags));
  });
  withExamples(
    exec,
    'snitch exec TOKEN -- backup.sh --all',
    'snitch exec --token-file ~/.backup-token -- backup.sh --all',
    `snitch exec --value bytes='du -sb /backup | cut -f1' TOKEN -- backup.sh`,
    'snitch exec https://snitch.example.com/c/TOKEN -- make report',
    `snitch exec --create --cron '0 3 * * *' nightly-backup -- backup.sh --all`,
  );
  withCrontab(exec, (snitch) => [`0 3 * * * ${snitch} exec TOKEN -- /opt/backup.sh`]);
};

/** How many operands come before `--`, which the parser does not say; null if there is no `--`. */
function beforeDashes(exec: Command, operands: readonly string[]): number | null {
  const { rawArgs = [] } = (exec.parent ?? {}) as { rawArgs?: string[] };
  const at = rawArgs.indexOf('--');
  return at < 0 ? null : Math.max(0, operands.length - (rawArgs.length - at - 1));
}

/** @returns the job's exit code */
async function execute(
  operands: readonly string[],
  before: number | null,
  flags: ExecFlags,
): Promise<number> {
  const { env } = process;
  // Without the dashes, options of the job could not be told from ours.
  if (before === null && isDescribed(flags)) throw new UsageError('write -- before the job, with --create');
  const { given, problem, command } = readArguments({ operands, before, tokenFile: flags.tokenFile, env });
  const timeoutMs = flags.timeout === undefined ? null : parseDuration(flags.timeout, '--timeout');
  const limits = { timeoutMs, killAfterMs: parseDuration(flags.killAfter, '--kill-after') };
  const tail = parseTail(flags.tail);
  const output = new JobOutput(flags.output === 'never' ? 0 : tail);
  const commands = valueCommandsOf(flags.value ?? []);
  const valuesMs = parseDuration(flags.valueTimeout, '--value-timeout');
  if (valuesMs > LONGEST_VALUES) throw new UsageError('--value-timeout is 5m at most');
  const report = reportFor(given, problem, flags);
  const startedAt = Date.now();
  const setting = { stdio: output.stdio, env: environmentOfJob(env) };
  const job = startJob(command, setting, limits, () => report?.hurry());
  const copied = output.copy(job.child, job.ended);
  report?.start(startedAt);
  const end = await job.ended;
  const endedAt = Date.now();
  if (end.failure !== null) tell(`${command[0]}: ${end.failure}`);
  await Promise.race([copied, delay(OUTPUT_WITHIN)]);
  const isTold = flags.output === 'always' || end.code !== 0 || end.timedOut;
  // A failure is reported at once, and nobody judges its values.
  const isMeasured = commands.length > 0 && end.code === 0 && !end.timedOut;
  const values = (signal: AbortSignal) => measure({ commands, env: setting.env, limitMs: valuesMs, signal });
  const told = { at: endedAt, output: isTold ? output.tail() : Buffer.alloc(0) };
  if (report !== null) await tellEnd(report, end, { ...told, values: isMeasured ? values : null });
  await copied;
  await job.gone;
  return end.code;
}

/** Null if there is nobody to report to. That is said on stderr, and the job runs all the same. */
function reportFor(given: string | null, problem: string | null, flags: ExecFlags): RunReport | null {
  try {
    if (given !== null) {
      const { make, problem: fault } = makingOf(flags, given);
      if (fault !== null)
        tell(`${fault}; no snitch is created, and this run counts only if it exists already`);
      const runId = process.getBuiltinModule('node:crypto').randomUUID();
      return new RunReport({
        ...recipientOf(given, flagsOf(flags), make),
        typed: typedIn(flags),
        runId,
        directory: spoolDirectory(),
      });
    }
    tell(`${problem}; this run is not recorded`);
  } catch (error) {
    tell(`${(error as Error).message}; this run is not recorded`);
  }
  return null;
}

/** Leaves out --timeout, which means the job here. */
function flagsOf(flags: ExecFlags): ServerFlags & { apiKeyFile?: string } {
  const { apiKeyFile } = flags;
  return { ...typedIn(flags), ...(apiKeyFile === undefined ? {} : { apiKeyFile }) };
}

async function tellEnd(report: RunReport, end: JobEnd, told: ToldEnd): Promise<void> {
  try {
    await report.end(end, told);
  } catch (error) {
    // Whatever went wrong here must not hide how the job ended.
    tell(`the check-in failed: ${(error as Error).message}`);
  }
}
