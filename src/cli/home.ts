// An import of `node:os` would evaluate every export of it; this takes what is loaded already.
const { homedir } = process.getBuiltinModule('node:os');

/** The home directory. A user who has none, as in a container, must be able to run a job all the same. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch {
    return '/';
  }
}
