/**
 * The spool: a directory with one file for each check-in that waits to be sent.
 *
 * - `<time>-<order>-<id>.json` waits. Names sort by time.
 * - `<name>.<pid>.sending` is being sent by that process. A file is claimed by renaming it, which only one process can
 *   do. If the process is gone, its claims go back to waiting, so that nothing is lost with it.
 * - `<name>.<pid>.tmp` is being written.
 * - `unusable/` has the files that could not be read.
 * - `refused/` has what the server will never take, with the reason, until somebody sends it again or drops it.
 */

import { makePrivateDirectory } from '../../system/directory.ts';
import { createPrivateFile, syncDirectory } from '../../system/private-file.ts';
import { isAlive } from '../../system/process-alive.ts';
import { LARGEST_SETTINGS, readWholeText } from '../../system/reading.ts';
import { MINUTE } from '../../text/durations.ts';
import { stateHome } from '../command/home.ts';
import type { KeptCheckIn } from '../sending/check-in.ts';
import { decode, encode, type RefusedCheckIn } from './entry.ts';

// `promises` is loaded on first use, and commands without a spool should not have to wait for it.
const node = process.getBuiltinModule('node:fs');
const { join } = process.getBuiltinModule('node:path');

/** The most that is kept: more than a job that runs every few minutes leaves while its server is down for a week. */
const MOST = 5_000;

/** A claim older than this was made by a process whose id belongs to another one by now; milliseconds. */
const LONGEST_CLAIM = 10 * MINUTE;

const WAITING = /^\d+-\d-[0-9a-f-]+\.json$/;
const HELD = /^(.+\.json)\.(\d+)\.(?:sending|tmp)$/;
const UNUSABLE = 'unusable';
const REFUSED = 'refused';

export function spoolDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.SNITCH_SPOOL_DIR) return env.SNITCH_SPOOL_DIR;
  const fromUnit = env.STATE_DIRECTORY?.split(':')[0];
  if (fromUnit) return join(fromUnit, 'spool');
  return join(stateHome(env), 'snitch', 'spool');
}

export interface Claim {
  /** The name under which the check-in waits. */
  name: string;
  /** The path of the file while this process holds it. */
  path: string;
}

/** Writes the check-in, claimed by this process. Once this resolves, it survives a power cut. */
export async function writeClaimed(directory: string, checkIn: KeptCheckIn): Promise<Claim> {
  makePrivateDirectory(directory);
  await closeToOthers(directory);
  const id = process.getBuiltinModule('node:crypto').randomUUID();
  // A start sorts before an end of the same millisecond.
  const order = checkIn.suffix === 'start' ? 0 : 1;
  const name = `${String(checkIn.at).padStart(15, '0')}-${order}-${id}.json`;
  const path = claimPath(directory, name);
  await writeDurably(directory, path, join(directory, `${name}.${process.pid}.tmp`), encode(checkIn));
  return { name, path };
}

/** Write access of the group and of everybody, and the mark of a directory that all users share, such as /tmp. */
const OTHERS_WRITE = 0o022;
const SHARED = 0o1000;

/** Whoever could put a check-in here could have us send it, with our key. What all users share must stay as it is. */
async function closeToOthers(directory: string): Promise<void> {
  const { mode } = await node.promises.stat(directory);
  if ((mode & OTHERS_WRITE) !== 0 && (mode & SHARED) === 0) await node.promises.chmod(directory, 0o700);
}

/** The names of files, without those of other users if they can put files here. */
async function ownNamesIn(directory: string): Promise<string[]> {
  const names = await namesIn(directory);
  if (names.length === 0 || (node.statSync(directory).mode & OTHERS_WRITE) === 0) return names;
  const own = process.geteuid?.();
  return names.filter((name) => {
    return node.lstatSync(join(directory, name), { throwIfNoEntry: false })?.uid === own;
  });
}

/** Replaces the file with what is now known of the check-in; either the old or the new content survives a power cut. */
export async function rewrite(directory: string, { name, path }: Claim, checkIn: KeptCheckIn): Promise<void> {
  await writeDurably(directory, path, join(directory, `${name}.${process.pid}.tmp`), encode(checkIn));
}

/** @param draft a path that nobody else uses, on the same file system */
async function writeDurably(directory: string, path: string, draft: string, text: string): Promise<void> {
  await createPrivateFile(draft, text);
  await node.promises.rename(draft, path);
  await syncDirectory(directory);
}

function claimPath(directory: string, name: string): string {
  return join(directory, `${name}.${process.pid}.sending`);
}

export function spoolPath(directory: string, name: string): string {
  return join(directory, name);
}

/** Null if somebody else has claimed it, or has sent it already. */
export async function claim(directory: string, name: string): Promise<Claim | null> {
  const path = claimPath(directory, name);
  return (await moved(join(directory, name), path)) ? { name, path } : null;
}

/** Gives up the claim, so that the check-in waits for another time. */
export async function release(directory: string, { name, path }: Claim): Promise<void> {
  await moved(path, join(directory, name));
}

export async function remove({ path }: Claim): Promise<void> {
  await node.promises.rm(path, { force: true });
}

/** Moves the file out of the way, to where a person can look at it. */
export async function setAside(directory: string, { name, path }: Claim): Promise<string> {
  const aside = join(directory, UNUSABLE);
  makePrivateDirectory(aside);
  const target = join(aside, name);
  await moved(path, target);
  return target;
}

/**
 * Sets aside what the server will never take, until a person decides about it. The copy is safe on the disk before the
 * original is removed.
 *
 * @returns how many of the oldest had to be deleted to make room
 */
export async function refuse(
  directory: string,
  held: Claim,
  checkIn: KeptCheckIn,
  reason: string,
): Promise<number> {
  const aside = join(directory, REFUSED);
  makePrivateDirectory(aside);
  const draft = join(aside, `.${held.name}.${process.pid}`);
  await writeDurably(aside, join(aside, held.name), draft, encode(checkIn, reason));
  await remove(held);
  const names = await refusedNames(directory);
  const excess = names.slice(0, Math.max(0, names.length - MOST));
  for (const name of excess) await dropRefused(directory, name);
  return excess.length;
}

/** The names of refused check-ins, the oldest first. */
export async function refusedNames(directory: string): Promise<string[]> {
  return (await namesIn(join(directory, REFUSED))).filter((name) => WAITING.test(name)).sort();
}

export function refusedPath(directory: string, name: string): string {
  return join(directory, REFUSED, name);
}

/** Makes a refused check-in wait again; false if it is gone. */
export async function retryRefused(directory: string, name: string): Promise<boolean> {
  return moved(refusedPath(directory, name), join(directory, name));
}

export async function dropRefused(directory: string, name: string): Promise<void> {
  await node.promises.rm(refusedPath(directory, name), { force: true });
}

/** False if the file is gone. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await node.promises.rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The names of waiting check-ins, oldest first. Releases the claims of killed processes. */
export async function waiting(directory: string): Promise<string[]> {
  const names = await ownNamesIn(directory);
  const found = names.filter((name) => WAITING.test(name));
  for (const held of names) {
    const [, name, pid] = HELD.exec(held) ?? [];
    if (name === undefined || !WAITING.test(name)) continue;
    if (!(await isAbandoned(join(directory, held), Number(pid)))) continue;
    if (await moved(join(directory, held), join(directory, name))) found.push(name);
  }
  return found.sort();
}

/** How many files were set aside. */
export async function countUnusable(directory: string): Promise<number> {
  return (await namesIn(join(directory, UNUSABLE))).length;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await node.promises.readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function isAbandoned(path: string, pid: number): Promise<boolean> {
  if (pid === process.pid) return false;
  if (!isAlive(pid)) return true;
  try {
    return Date.now() - (await node.promises.stat(path)).ctimeMs > LONGEST_CLAIM;
  } catch {
    return false;
  }
}

/** Null if the file is gone; `unusable` if it holds no check-in that can be read. */
export async function read(path: string): Promise<RefusedCheckIn | 'unusable' | null> {
  try {
    return decode(readWholeText(path, LARGEST_SETTINGS)) ?? 'unusable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'unusable';
  }
}

/** Drops the oldest check-ins, so a server that never comes back does not fill the disk. @returns how many */
export async function dropExcess(directory: string): Promise<number> {
  const names = await waiting(directory);
  let dropped = 0;
  for (const name of names.slice(0, Math.max(0, names.length - MOST))) {
    const held = await claim(directory, name);
    if (held === null) continue;
    await remove(held);
    dropped += 1;
  }
  return dropped;
}
