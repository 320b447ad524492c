/** A build uses no other time than that of its source, so that the same source makes the same package. */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

/** For a source without a history: the first of January 2026. */
const UNKNOWN = 1_767_225_600;

/**
 * `SOURCE_DATE_EPOCH` if it is set, otherwise the time of the last commit.
 *
 * @param root the directory of the project; a repository further up does not count
 * @returns seconds since the epoch
 * @throws Error if the variable is not a number
 */
export function sourceDate(root: string, env: NodeJS.ProcessEnv = process.env): number {
  const given = env.SOURCE_DATE_EPOCH;
  if (given) {
    if (!/^\d{1,12}$/.test(given)) throw new Error(`SOURCE_DATE_EPOCH must be whole seconds, not ${given}`);
    return Number(given);
  }
  const { stdout } = spawnSync('git', ['-C', root, 'log', '-1', '--format=%ct'], {
    encoding: 'utf8',
    env: { ...env, GIT_CEILING_DIRECTORIES: dirname(root) },
  });
  return /^\d+\n$/.test(stdout ?? '') ? Number(stdout) : UNKNOWN;
}
