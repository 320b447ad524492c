/** The crontabs of a host: that of the system, those of packages, and those of users. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PassedOver, shown } from '../host/host.ts';

export interface Crontab {
  /** Where the file is; `shown` is where it would be on the host itself. */
  path: string;
  shown: string;
  text: string;
  /** Whether its lines name a user. */
  system: boolean;
  /** The owner, if the lines themselves name no user. */
  user: string | null;
}

/** @param root the directory that stands for `/` */
export function readCrontabs(root: string): { crontabs: Crontab[]; passedOver: PassedOver[] } {
  const crontabs: Crontab[] = [];
  const passedOver: PassedOver[] = [];
  const read = (path: string, system: boolean, user: string | null) => {
    const pass = (reason: string) =>
      void passedOver.push({ where: shown(root, path), what: 'the file', reason });
    try {
      if (!lstatSync(path).isFile()) return pass('it is a link or no plain file: look at what it leads to');
      const text = readFileSync(path, 'utf8');
      crontabs.push({ path, shown: shown(root, path), text, system, user });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') pass(`it cannot be read (${code}): run this as root`);
    }
  };
  read(join(root, 'etc/crontab'), true, null);
  const ofPackages = listed(join(root, 'etc/cron.d'), passedOver, root);
  for (const name of ofPackages) {
    const path = join(root, 'etc/cron.d', name);
    if (/^[A-Za-z0-9_-]+$/.test(name)) read(path, true, null);
    else if (!name.startsWith('.')) {
      passedOver.push({
        where: shown(root, path),
        what: 'the file',
        reason: 'most crons ignore such a name',
      });
    }
  }
  for (const folder of ['var/spool/cron/crontabs', 'var/spool/cron']) {
    for (const name of listed(join(root, folder), passedOver, root)) {
      const path = join(root, folder, name);
      if (!name.startsWith('.') && !isDirectory(path)) read(path, false, name);
    }
  }
  if (isThere(join(root, 'etc/anacrontab'))) {
    passedOver.push({
      where: '/etc/anacrontab',
      what: 'the file',
      reason: 'the jobs of anacron are not read',
    });
  }
  return { crontabs, passedOver };
}

function listed(directory: string, passedOver: PassedOver[], root: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const reason = `it cannot be read (${code}): run this as root`;
      passedOver.push({ where: shown(root, directory), what: 'the directory', reason });
    }
    return [];
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
