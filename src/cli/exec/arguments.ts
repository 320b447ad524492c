/** The arguments of `snitch exec`: whom the check-ins are for, and which command is the job. */
import { UsageError } from '../failure/failure.ts';
import { type GivenToken, hiddenToken, type TokenSources } from '../sending/token.ts';

export interface ExecArguments extends GivenToken {
  command: readonly string[];
}

export interface ExecSources extends TokenSources {
  /** The operands, in order. */
  operands: readonly string[];
  /** How many of them stand before `--`; null if there is no `--`. */
  before: number | null;
}

/**
 * A token in the arguments can be seen by every user of the host (`ps`); one in a file or in the environment cannot.
 *
 * @throws UsageError if there is no command; nothing else that is wrong may keep a job from running
 */
export function readArguments(sources: ExecSources): ExecArguments {
  const { before, tokenFile } = sources;
  // Behind more than a token, `--` is one of the job's own arguments: `snitch exec TOKEN git checkout -- file`.
  const isOfJob = before !== null && before > 1;
  const operands = isOfJob ? sources.operands.toSpliced(before, 0, '--') : sources.operands;
  // With our `--`, there is a token if anything stands before it. Without, there is one unless --token-file is given.
  const named = before === null || isOfJob ? tokenFile === undefined : before > 0;
  const command = named ? operands.slice(1) : operands;
  if (command.length === 0) throw new UsageError("missing required argument 'command'");
  const [given = ''] = named ? operands : [];
  if (given !== '') return { given, problem: null, command };
  return { ...hiddenToken(sources), command };
}

/** Our variables that are secrets, or contain some. A job has no business with them. */
const SECRETS = [
  'SNITCH_API_KEY',
  'SNITCH_ADMIN_KEY',
  'SNITCH_FROM_KEY',
  'SNITCH_TOKEN',
  'SNITCH_SMTP_URL',
  'SNITCH_STORE_URL',
  'SNITCH_WATCHDOG_URL',
];

/** The environment of the job: ours without our secrets. */
export function environmentOfJob(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.includes(name)));
}
