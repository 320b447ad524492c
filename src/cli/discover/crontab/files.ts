/** The crontabs of a host: that of the system, those of packages, and those of users. */

import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { faultOfReading, LARGEST_SETTINGS, readWhole } from '../../../system/reading.ts';
import { hintOf, type PassedOver, shown } from '../host/host.ts';

export interface Crontab {
  /** Where the file is; `shown` is where it would be on the host itself. */
  path: string;
  shown: string;
  text: string;
  /** How the bytes of the file became the text, and become bytes again when it is written. */
  encoding: 'utf8' | 'latin1';
  /** Whether its lines name a user. */
  system: boolean;
  /** The owner, if the lines themselves name no user. */
  user: string | null;
}

/** Where the crontabs of users are: in Debian, in openSUSE, and in Fedora and others. */
const SPOOLS = ['var/spool/cron/crontabs', 'var/spool/cron/tabs', 'var/spool/cron'];

/** @param root the directory that stands for `/` */
export function readCrontabs(root: string): { crontabs: Crontab[]; passedOver: PassedOver[] } {
  const crontabs: Crontab[] = [];
  const passedOver: PassedOver[] = [];
  const read = (path: string, system: boolean, user: string | null) => {
    const file = readFileOfHost(root, path);
    if (file === null) return;
    if ('reason' in file) passedOver.push(file);
    else if (system && othersMayWrite(path)) {
      const reason =
        'most crons do not read it, because users other than its owner can write to it: chmod go-w';
      passedOver.push({ where: file.shown, what: 'the file', reason });
    } else crontabs.push({ ...file, system, user });
  };
  read(join(root, 'etc/crontab'), true, null);
  const ofPackages = listed(join(root, 'etc/cron.d'), passedOver, root);
  for (const name of ofPackages) {
    const path = join(root, 'etc/cron.d', name);
    if (isReadByCron(root, name)) read(path, true, null);
    else if (!name.startsWith('.')) {
      const reason = 'cron ignores such a name';
      passedOver.push({ where: shown(root, path), what: 'the file', reason, excused: true });
    }
  }
  for (const folder of SPOOLS) {
    for (const name of listed(join(root, folder), passedOver, root)) {
      const path = join(root, folder, name);
      if (!name.startsWith('.') && !isDirectory(path)) read(path, false, name);
    }
  }
  return { crontabs, passedOver };
}

/** Debian's cron takes plain names alone, such as those of packages; that of Fedora and others nearly all. */
function isReadByCron(root: string, name: string): boolean {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return true;
  const isLeftover = /^[.#]|~$|\.(?:rpm(?:save|orig|new)|dpkg-\w+)$/.test(name);
  return !isLeftover && !existsSync(join(root, 'etc/debian_version'));
}

/** Null if there is no such file; or why it was passed over. */
export function readFileOfHost(
  root: string,
  path: string,
): Pick<Crontab, 'path' | 'shown' | 'text' | 'encoding'> | PassedOver | null {
  const place = { where: shown(root, path), what: 'the file' };
  try {
    if (!lstatSync(path).isFile())
      return { ...place, reason: 'it is a link or not a regular file: check what it leads to' };
    const bytes = readWhole(path, LARGEST_SETTINGS);
    // Cron takes any bytes. In Latin-1 each one has its character, so that none is lost when the file is written.
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    return { path, shown: place.where, text: bytes.toString(encoding), encoding };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return { ...place, reason: `it cannot be read (${faultOfReading(error)})${hintOf(code)}` };
  }
}

function listed(directory: string, passedOver: PassedOver[], root: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const reason = `it cannot be read (${code})${hintOf(code)}`;
      passedOver.push({ where: shown(root, directory), what: 'the directory', reason });
    }
    return [];
  }
}

/** The crons of Debian and Fedora leave such a file alone, and say so in the log only; others may read it. */
function othersMayWrite(path: string): boolean {
  return ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o022) !== 0;
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
