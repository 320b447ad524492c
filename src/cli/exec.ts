/** `snitch exec`: runs a job, and tells the server how it went. What the job does stays as it would be without us. */
import { looksLikeAddress, splitAddress } from './check-in-address.ts';
import { type Register, withCrontab, withExamples } from './command.ts';
import { findCheckInAddress } from './connection.ts';
import { parseDuration } from './duration.ts';
import { type JobEnd, startJob } from './exec-job.ts';
import { JobOutput } from './exec-output.ts';
import { type Run, RunReport } from './exec-report.ts';
import { parseTail } from './exec-tail.ts';
import { tell } from './exec-tell.ts';
import { UsageError } from './failure.ts';
import { spoolDirectory } from './spool-directory.ts';

interface ExecFlags {
  url?: string;
  timeout?: string;
  killAfter: string;
  tail: string;
}

/** Where the reader of our output stands still, the end is told without waiting for it any longer; milliseconds. */
const OUTPUT_WITHIN = 5_000;

const NOTES = `
The exit code is always that of the job: 128 + the signal that killed it, 127 for a command that is not found, 126
for one that cannot be run, whatever became of the check-ins. Those that the server did not take are kept on the disk
(see \`snitch help spool\`) and count for their own time when they are sent later.

Signals (TERM, INT, HUP, QUIT, USR1, USR2) go on to the job. --timeout ends it with all that it started; at a
terminal, which the job shares with you, the job alone.

A stream that is a terminal stays one for the job, and nothing of it is kept; redirect it, or run from cron, to have
the end of the output beside the check-in. A process that the job leaves behind needs an output of its own: a second
after the job's end, nobody reads this one any more.`;

export const register: Register = (program, finish) => {
  const exec = program
    .command('exec')
    .description('run a job, and check in when it starts and ends')
    .argument('<token>', 'the token of the snitch, which needs no API key; or its whole check-in address')
    .argument('<command...>', 'the job and its arguments, after --')
    .option('--timeout <duration>', 'end the job after this time, and report it as failed')
    .option('--kill-after <duration>', 'how long it may take to end before it is killed', '10s')
    .option('--tail <size>', 'how much of the end of its output is sent; 0 for nothing', '10k')
    .option('--url <url>', 'address of the server (or SNITCH_URL)')
    .addHelpText('after', NOTES)
    .action(async (given: string, command: string[], flags: ExecFlags) =>
      finish(await execute(given, command, flags)),
    );
  withExamples(
    exec,
    'snitch exec TOKEN -- backup.sh --all',
    'snitch exec https://snitch.example.com/c/TOKEN -- make report',
  );
  withCrontab(exec, (snitch) => [`0 3 * * * ${snitch} exec TOKEN -- /opt/backup.sh`]);
};

/** @returns the job's exit code */
async function execute(given: string, command: readonly string[], flags: ExecFlags): Promise<number> {
  const timeoutMs = flags.timeout === undefined ? null : parseDuration(flags.timeout, '--timeout');
  const limits = { timeoutMs, killAfterMs: parseDuration(flags.killAfter, '--kill-after') };
  const output = new JobOutput(parseTail(flags.tail));
  const report = new RunReport(runOf(given, flags));
  const startedAt = Date.now();
  const job = startJob(command, output.stdio, limits, () => report.hurry());
  const copied = output.copy(job.child, job.ended);
  report.start(startedAt);
  const end = await job.ended;
  const endedAt = Date.now();
  if (end.failure !== null) tell(`${command[0]}: ${end.failure}`);
  await Promise.race([copied, delay(OUTPUT_WITHIN)]);
  await tellEnd(report, end, endedAt, output.tail());
  await copied;
  return end.code;
}

async function tellEnd(report: RunReport, end: JobEnd, endedAt: number, output: Buffer): Promise<void> {
  try {
    await report.end(end, endedAt, output);
  } catch (error) {
    // Whatever it is, it is no reason to hide how the job ended.
    tell(`the check-in failed: ${(error as Error).message}`);
  }
}

function runOf(given: string, flags: ExecFlags): Run {
  const directory = spoolDirectory();
  const runId = process.getBuiltinModule('node:crypto').randomUUID();
  if (looksLikeAddress(given)) return { ...splitAddress(given), problem: null, runId, directory };
  if (given === '') throw new UsageError('the token is empty');
  const known = { token: given, runId, directory };
  try {
    const { base } = findCheckInAddress(flags.url === undefined ? {} : { url: flags.url });
    return { ...known, base, problem: null };
  } catch (error) {
    // What was typed can be typed again. A file that somebody else broke must not keep the job from running.
    if (flags.url !== undefined) throw error;
    return { ...known, base: null, problem: (error as Error).message };
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
