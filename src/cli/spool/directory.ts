/**
 * The spool: a directory with one file for each check-in that waits to be sent.
 *
 * - `<time>-<order>-<id>.json` waits. Names sort by time.
 * - `<name>.<pid>.sending` is being sent by that process. Taking a name away by `rename` is what claims a file: only
 *   one process can. A claim whose process is gone goes back to waiting, so that nothing is lost with it.
 * - `<name>.<pid>.tmp` is being written.
 * - `unusable/` has the files that could not be read.
 * - `refused/` has what the server will never take, with the reason, until somebody sends it again or drops it.
 */
import { makePrivateDirectory } from '../../system/directory.ts';
import { createPrivateFile, syncDirectory } from '../../system/private-file.ts';
import { MINUTE } from '../../text/durations.ts';
import { stateHome } from '../command/home.ts';
import type { KeptCheckIn } from '../sending/check-in.ts';
import { decode, encode, type RefusedCheckIn } from './entry.ts';

// Asking for `promises` loads them, which commands without a spool need not wait for.
const node = process.getBuiltinModule('node:fs');
const { join } = process.getBuiltinModule('node:path');

/** A job that runs every few minutes leaves fewer than this while its server is down for a week. */
const MOST = 5_000;

/** A claim is older than this only where another process has got the id of the one that made it. */
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
  /** As it waits, or would wait. */
  name: string;
  /** As this process holds it. */
  path: string;
}

/** Writes the check-in, claimed by this process; when this resolves, a power cut cannot take it. */
export async function writeClaimed(directory: string, checkIn: KeptCheckIn): Promise<Claim> {
  makePrivateDirectory(directory);
  await node.promises.chmod(directory, 0o700);
  const id = process.getBuiltinModule('node:crypto').randomUUID();
  // A start and an end of the same millisecond stay in this order.
  const order = checkIn.suffix === 'start' ? 0 : 1;
  const name = `${String(checkIn.at).padStart(15, '0')}-${order}-${id}.json`;
  const path = claimPath(directory, name);
  await writeDurably(directory, path, join(directory, `${name}.${process.pid}.tmp`), encode(checkIn));
  return { name, path };
}

/** @param draft a name that nobody else uses, on the same file system */
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

/** Null where somebody else has it, or has sent it. */
export async function claim(directory: string, name: string): Promise<Claim | null> {
  const path = claimPath(directory, name);
  return (await moved(join(directory, name), path)) ? { name, path } : null;
}

/** Lets it wait for another time. */
export async function release(directory: string, { name, path }: Claim): Promise<void> {
  await moved(path, join(directory, name));
}

export async function remove({ path }: Claim): Promise<void> {
  await node.promises.rm(path, { force: true });
}

/** Out of the way, where a person may look at it. */
export async function setAside(directory: string, { name, path }: Claim): Promise<string> {
  const aside = join(directory, UNUSABLE);
  makePrivateDirectory(aside);
  const target = join(aside, name);
  await moved(path, target);
  return target;
}

/**
 * Puts what the server will never take where a person decides about it. Its place there is safe before it is left here.
 *
 * @returns how many of the oldest there had to be deleted for it
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

/** Names of what was refused, the oldest first. */
export async function refusedNames(directory: string): Promise<string[]> {
  return (await namesIn(join(directory, REFUSED))).filter((name) => WAITING.test(name)).sort();
}

export function refusedPath(directory: string, name: string): string {
  return join(directory, REFUSED, name);
}

/** Makes it wait again; false where it is not there any more. */
export async function retryRefused(directory: string, name: string): Promise<boolean> {
  return moved(refusedPath(directory, name), join(directory, name));
}

export async function dropRefused(directory: string, name: string): Promise<void> {
  await node.promises.rm(refusedPath(directory, name), { force: true });
}

/** False where the file is not there any more. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await node.promises.rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Names of what waits, the oldest first, what others left behind when they were killed included. */
export async function waiting(directory: string): Promise<string[]> {
  const names = await namesIn(directory);
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
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process of another user is there, and may not be asked.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  try {
    return Date.now() - (await node.promises.stat(path)).ctimeMs > LONGEST_CLAIM;
  } catch {
    return false;
  }
}

/** Null where it is gone; `unusable` where no check-in can be read from it. */
export async function read(path: string): Promise<RefusedCheckIn | 'unusable' | null> {
  try {
    return decode(await node.promises.readFile(path, 'utf8')) ?? 'unusable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'unusable';
  }
}

/** Drops the oldest, so that a server which never comes back does not fill the disk. Answers with how many. */
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
