/** What `snitch exec` was told: whom the check-ins are for, and which command is the job. */
import { readFileSync } from 'node:fs';
import { UsageError } from '../failure.ts';

const NO_TOKEN = 'no token: give one as the first argument, with --token-file or in SNITCH_TOKEN';

export interface ExecArguments {
  /** An address, a token or a name; null where there is none that can be used. */
  given: string | null;
  /** Why there is none, in words. */
  problem: string | null;
  command: readonly string[];
}

export interface ExecSources {
  /** The operands, in order. */
  operands: readonly string[];
  /** How many of them stand before `--`; null where there is no `--`. */
  before: number | null;
  tokenFile?: string | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * A token in the arguments can be seen by every user of the host (`ps`); one in a file or in the environment cannot.
 *
 * @throws UsageError where no command is there: nothing else that is wrong may keep a job from running
 */
export function readArguments(sources: ExecSources): ExecArguments {
  const { operands, before, tokenFile } = sources;
  // With `--`, what stands before it tells whether there is a token; without, only --token-file does.
  const named = before === null ? tokenFile === undefined : before > 0;
  const command = named ? operands.slice(1) : operands;
  if (command.length === 0) throw new UsageError("missing required argument 'command'");
  const [given = ''] = named ? operands : [];
  if (given !== '') return { given, problem: null, command };
  return { ...hiddenToken(sources), command };
}

/** What stands in a file or in the environment; a problem where nothing does. */
export function hiddenToken({
  tokenFile,
  env,
}: Pick<ExecSources, 'tokenFile' | 'env'>): Omit<ExecArguments, 'command'> {
  if (tokenFile !== undefined) return tokenIn(tokenFile, '--token-file');
  if (env.SNITCH_TOKEN) return { given: env.SNITCH_TOKEN.trim(), problem: null };
  if (env.SNITCH_TOKEN_FILE) return tokenIn(env.SNITCH_TOKEN_FILE, 'SNITCH_TOKEN_FILE');
  return { given: null, problem: NO_TOKEN };
}

function tokenIn(path: string, source: string): Omit<ExecArguments, 'command'> {
  try {
    const given = readFileSync(path, 'utf8').trim();
    if (/^[^\p{Cc}]{1,2000}$/u.test(given)) return { given, problem: null };
    return { given: null, problem: `${source}: ${path} must hold one token and nothing else` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { given: null, problem: `${source}: cannot read the token from ${path}: ${code}` };
  }
}

/** Variables of ours that are secrets, or hold some. A job has no business with them. */
const SECRETS = [
  'SNITCH_API_KEY',
  'SNITCH_ADMIN_KEY',
  'SNITCH_FROM_KEY',
  'SNITCH_TOKEN',
  'SNITCH_SMTP_URL',
  'SNITCH_WATCHDOG_URL',
];

/** The environment of the job: ours without our secrets. */
export function environmentOfJob(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.includes(name)));
}
