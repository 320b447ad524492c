/** The clock that the jobs of a host run by. */
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isTimeZone, spelledTimeZone } from '../../../text/time-zone.ts';

export interface HostClock {
  /** IANA name. */
  timezone: string;
  /** Why it may be another; null if it is certain. */
  doubt: string | null;
  /** Whether the cron of the host heeds `CRON_TZ` in a crontab. */
  heedsCronTz: boolean;
}

/**
 * @param root the directory that stands for `/`
 * @param given the time zone according to the user; null if they do not say
 */
export function readClock(root: string, given: string | null): HostClock {
  const heedsCronTz = !hasCronOfDebian(root);
  if (given !== null) return { timezone: spelledTimeZone(given), doubt: null, heedsCronTz };
  const found = zoneOfLink(join(root, 'etc/localtime')) ?? zoneInFile(join(root, 'etc/timezone'));
  if (found !== null) return { timezone: found, doubt: null, heedsCronTz };
  // Without such a file the C library takes UTC.
  const isUtc = lstatSync(join(root, 'etc/localtime'), { throwIfNoEntry: false }) === undefined;
  const doubt = isUtc
    ? null
    : 'cannot tell which time zone /etc/localtime is, so UTC was assumed: name it with --timezone';
  return { timezone: 'UTC', doubt, heedsCronTz };
}

/** `Europe/Berlin` for a link to `/usr/share/zoneinfo/Europe/Berlin`. */
function zoneOfLink(path: string): string | null {
  let target: string;
  try {
    target = readlinkSync(path);
  } catch {
    return null;
  }
  const [, name = ''] = /zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(target) ?? [];
  return known(name);
}

function zoneInFile(path: string): string | null {
  try {
    return known(readFileSync(path, 'utf8').trim());
  } catch {
    return null;
  }
}

function known(name: string): string | null {
  if (/^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/.test(name)) return 'UTC';
  return isTimeZone(name) ? spelledTimeZone(name) : null;
}

/** Debian's cron runs every crontab in the zone of the daemon, whatever a crontab says (`man 8 cron` there). */
function hasCronOfDebian(root: string): boolean {
  const has = (path: string) => existsSync(join(root, path));
  return has('etc/debian_version') && has('usr/sbin/cron') && !has('usr/sbin/crond');
}
