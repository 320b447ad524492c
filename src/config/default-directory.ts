/** Where data is kept if no setting says: where the service manager wants it, else below the user's home. */
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { printable } from '../text/printable.ts';
import { ConfigError, firstDirectory } from './file.ts';

/** @throws ConfigError if there is none, or if it would depend on the directory in which the program is started */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  const given = firstDirectory(env.STATE_DIRECTORY);
  if (given !== undefined) return absolute('STATE_DIRECTORY', given);
  if (env.XDG_STATE_HOME) return join(absolute('XDG_STATE_HOME', env.XDG_STATE_HOME), 'snitch');
  const home = env.HOME === undefined ? ownHome() : absolute('HOME', env.HOME);
  return join(home, '.local/state/snitch');
}

function absolute(variable: string, path: string): string {
  if (isAbsolute(path)) return path;
  const what = path === '' ? 'it is empty' : `${JSON.stringify(path)} is not an absolute path`;
  throw new ConfigError([
    printable(
      `environment variable ${variable}: ${what}, so the data would end up wherever snitch is started: set data_dir, or SNITCH_DATA_DIR`,
    ),
  ]);
}

/** @throws ConfigError for a user who has none */
function ownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    throw new ConfigError(['data_dir: must be set, because this user has no home directory']);
  }
}
