// An import of `node:os` would evaluate all its exports; this takes what is already loaded.
const { userInfo } = process.getBuiltinModule('node:os');
const { isAbsolute, join } = process.getBuiltinModule('node:path');

/** The home directory. Even a user who has none, as in some containers, must be able to run a job. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  if (env.HOME && isAbsolute(env.HOME)) return env.HOME;
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
}

/** A relative path is ignored, because it would be another directory wherever a command is started. */
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
