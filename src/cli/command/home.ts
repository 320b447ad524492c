// An import of `node:os` would evaluate every export of it; this takes what is loaded already.
const { userInfo } = process.getBuiltinModule('node:os');
const { isAbsolute, join } = process.getBuiltinModule('node:path');

/** The home directory. A user who has none, as in a container, must be able to run a job all the same. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  if (env.HOME && isAbsolute(env.HOME)) return env.HOME;
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
}

/** What is relative there would be another directory for every directory that a command is started in: it is ignored. */
export function stateHome(env: NodeJS.ProcessEnv): string {
  return absolute(env.XDG_STATE_HOME) ?? join(homeOf(env), '.local/state');
}

/** The same for the user's own settings. */
export function configHome(env: NodeJS.ProcessEnv): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), '.config');
}

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}
