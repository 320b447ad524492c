/** What other users of this host can do with a file or a directory, judging by modes and owners. */
const node = process.getBuiltinModule('node:fs');
const { dirname } = process.getBuiltinModule('node:path');

const EVERYBODY = { read: 0o004, write: 0o002, enter: 0o001 };
const GROUP_WRITES = 0o020;
const STICKY = 0o1000;
const ROOT = 0;

/**
 * Who besides the daemon could put files of their own into a directory. They could replace ours, or only add theirs if
 * the directory is sticky, like /tmp.
 */
export type Writers = 'everybody' | 'everybody, beside ours' | 'group' | 'owner' | 'nobody';

/**
 * @param path the directory
 * @param uid the user it should belong to; root can write everywhere anyway
 * @throws the error of the file system
 */
export function otherWriters(path: string, uid: number): Writers {
  const real = node.realpathSync(path);
  const { mode, uid: owner } = node.statSync(real);
  const isSticky = (mode & STICKY) !== 0;
  if ((mode & EVERYBODY.write) !== 0 && isReachable(real))
    return isSticky ? 'everybody, beside ours' : 'everybody';
  if ((mode & GROUP_WRITES) !== 0) return 'group';
  return owner === uid || owner === ROOT ? 'nobody' : 'owner';
}

/** @throws the error of the file system */
export function everybodyMayRead(path: string): boolean {
  const real = node.realpathSync(path);
  return (node.statSync(real).mode & EVERYBODY.read) !== 0 && isReachable(real);
}

/** Whether everybody may read it. A file that cannot be examined, such as a pipe, counts as not exposed. */
export function isExposed(path: string): boolean {
  try {
    return everybodyMayRead(path);
  } catch {
    return false;
  }
}

/** Neither is an exit status of a program that could not change the user. */
const READABLE = 10;
const UNREADABLE = 11;
const TRY_TO_READ = [
  '/bin/sh',
  '-c',
  `if test -r "$1"; then exit ${READABLE}; else exit ${UNREADABLE}; fi`,
  'sh',
];

/**
 * Whether a user, with all groups that the host knows of, may read a file; null if that cannot be tried. Only root can
 * try it. A user without a name has no further groups, and neither has any where `setpriv` is missing.
 */
export function mayRead(path: string, { uid, gid }: { uid: number; gid: number }): boolean | null {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const options = { cwd: '/', stdio: 'ignore', timeout: 5_000 } as const;
  const command = [...TRY_TO_READ, path];
  const withGroups = [`--reuid=${uid}`, `--regid=${gid}`, '--init-groups', ...command];
  const [program = '', ...values] = command;
  return (
    answerOf(spawnSync('setpriv', withGroups, options)) ??
    answerOf(spawnSync(program, values, { ...options, uid, gid }))
  );
}

function answerOf({ status }: { status: number | null }): boolean | null {
  return status === READABLE || status === UNREADABLE ? status === READABLE : null;
}

/** Whether everybody may pass through all directories above it. What is in a private directory is private too. */
function isReachable(real: string): boolean {
  for (let path = real; path !== '/'; path = dirname(path)) {
    if ((node.statSync(dirname(path)).mode & EVERYBODY.enter) === 0) return false;
  }
  return true;
}
