/** Why this process cannot write at a path, and what to do about it. */
import { isInContainer } from './container.ts';

const { accessSync, constants, existsSync, statfsSync, statSync } = process.getBuiltinModule('node:fs');
const { dirname } = process.getBuiltinModule('node:path');

/** Whoever wants to write: a user and a group by their numbers. */
export interface Writer {
  uid: number;
  gid: number;
  inContainer: boolean;
}

/** The number that stands for every user unknown to a user namespace. */
const UNMAPPED = 65_534;

/**
 * @param path a file that could not be written or created
 * @returns words that follow a semicolon
 */
export function adviceForWriting(path: string, writer: Writer = ourselves()): string {
  const directory = nearestDirectory(dirname(path));
  for (const place of [directory, path]) {
    const code = refusalAt(place);
    if (code === 'EROFS') return adviceForReadOnly(place, writer);
    if (code === 'EACCES' || code === 'EPERM') return adviceForOwner(place, writer);
  }
  return adviceForRoom(directory) ?? 'check the owner, the mode and the free space of its directory';
}

function adviceForRoom(directory: string): string | null {
  try {
    const where = `the file system of ${directory}`;
    if (statfsSync(directory).bavail === 0) return `${where} is full: make room on it`;
    if (hasRoomForFiles(directory)) return null;
    return `${where} has room for no more files: look at \`df -i\`, and delete files there`;
  } catch {
    // A broken disk may not even answer that.
    return null;
  }
}

/**
 * Whether the file system can hold another file, which one with much free space may not.
 *
 * @throws Error of the system, if the directory cannot be reached
 */
export function hasRoomForFiles(directory: string): boolean {
  // Some, such as btrfs, have no limit and report 0 of 0.
  const { files, ffree } = statfsSync(directory);
  return files === 0 || ffree > 0;
}

function ourselves(): Writer {
  return {
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    inContainer: isInContainer(),
  };
}

function nearestDirectory(path: string): string {
  return existsSync(path) || path === '/' ? path : nearestDirectory(dirname(path));
}

/** The code of the system's refusal; null if it lets this process write. */
function refusalAt(place: string): string | null {
  try {
    accessSync(place, constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? null;
  }
}

/** Names who writes and who owns the place: both numbers are needed on the host, where they may have other names. */
export function adviceForOwner(place: string, { uid, gid, inContainer }: Writer): string {
  const { uid: owner, gid: group, mode } = statSync(place);
  const who = `the daemon is user ${uid} (group ${gid}), and ${place} belongs to user ${owner} (group ${group}) with the mode ${octal(mode)}`;
  if (owner !== uid) {
    const asOwner = inContainer && owner !== 0 ? `, or run the container with --user ${owner}:${group}` : '';
    return `${who}: ${inContainer ? forVolume(uid, gid) : forOwner(place, uid, gid)}${asOwner}`;
  }
  if ((mode & 0o200) === 0) return `${who}: let its owner write, with \`chmod -R u+rwX\``;
  return `${who}, who may write by that: ${forRefusal(uid, inContainer)}`;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function forOwner(place: string, uid: number, gid: number): string {
  return `\`chown -R ${uid}:${gid} ${place}\` as root, or start the daemon as the owner`;
}

function forVolume(uid: number, gid: number): string {
  const owner = `${uid}:${gid}`;
  return `on the host, \`chown -R ${owner}\` the directory that is mounted there (rootless podman: \`podman unshare chown -R ${owner}\` it, or mount it with :U; Kubernetes: fsGroup: ${gid})`;
}

function forRefusal(uid: number, inContainer: boolean): string {
  const labels = 'SELinux or AppArmor may forbid it';
  if (!inContainer) return `${labels}, or a file system that has no owners of its own`;
  const unmapped = `${UNMAPPED} also stands for every owner that the container has no number for: rootless podman mounts the directory rightly with :U`;
  return `${uid === UNMAPPED ? `${unmapped}; or ` : ''}${labels}: with SELinux mount it with :Z`;
}

function adviceForReadOnly(place: string, { inContainer }: Writer): string {
  return inContainer
    ? `${place} can only be read: mount a volume there, and without :ro`
    : `${place} is on a file system that can only be read: under systemd keep the data in /var/lib/snitch, or allow the place with ReadWritePaths=`;
}
