/** Whether a host has anacron, and which jobs are left to it (`man 8 anacron`). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Crontab, readFileOfHost } from '../crontab/files.ts';
import type { PassedOver } from '../host/host.ts';

const ANACRONTAB = '/etc/anacrontab';

/** What runs the jobs of the file: anacron itself, or a generator that makes timers of them. */
const PROGRAMS = [
  'usr/sbin/anacron',
  'usr/bin/anacron',
  'sbin/anacron',
  'usr/lib/systemd/system-generators/systemd-crontab-generator',
  'lib/systemd/system-generators/systemd-crontab-generator',
];

/** @param root the directory that stands for `/` */
export function readAnacrontab(root: string): { crontabs: Crontab[]; passedOver: PassedOver[] } {
  const read = readFileOfHost(root, join(root, ANACRONTAB));
  if (read === null) return { crontabs: [], passedOver: [] };
  if ('reason' in read) return { crontabs: [], passedOver: [read] };
  if (PROGRAMS.some((path) => existsSync(join(root, path)))) {
    return { crontabs: [{ ...read, system: false, user: 'root' }], passedOver: [] };
  }
  const reason = 'there is no anacron on this host, so nothing runs these jobs';
  return { crontabs: [], passedOver: [{ where: ANACRONTAB, what: 'the file', reason, excused: true }] };
}

/** `test -x /usr/sbin/anacron || …`, as Debian writes the lines for cron.daily and its like. */
const UNLESS_ANACRON = /(?:\btest|\[)\s+-x\s+(\/\S*\/anacron)\s*\]?\s*\|\|/;

/** Whether a line of a crontab does nothing because anacron does it. */
export function isLeftToAnacron(root: string, command: string): boolean {
  const [, path] = UNLESS_ANACRON.exec(command) ?? [];
  return path !== undefined && existsSync(join(root, path));
}
