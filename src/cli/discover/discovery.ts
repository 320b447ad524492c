/** What is known about the jobs of a host. */
import type { Crontab } from './crontab/files.ts';
import type { CronJob } from './crontab/lines.ts';
import type { Due, Terms } from './due/due.ts';
import type { PassedOver } from './host/host.ts';
import type { Timer } from './systemd/units.ts';

export type Source = { kind: 'cron'; crontab: Crontab; job: CronJob } | { kind: 'timer'; timer: Timer };

export interface Proposal {
  name: string;
  /** Other names, for when another job has the first one. The mark in them stays the same when lines are moved. */
  otherNames: readonly string[];
  due: Due;
  /** For servers and programs that know no schedules. */
  interval: string;
  /** The schedule as it is written on the host. */
  schedule: string;
  /** `/etc/crontab:12`, `logrotate.timer` */
  where: string;
  /** The user that the job runs as, if that is known. */
  user: string | null;
  source: Source;
  /** How the job should call this program, as a word of a shell command. */
  program: string;
}

export interface Discovery {
  proposals: Proposal[];
  /** Jobs that are understood and watched already. */
  watched: WatchedAlready[];
  /** Everything that no snitch is proposed for. */
  passedOver: PassedOver[];
  /** What somebody decided not to watch. */
  ignored: PassedOver[];
  /** Lines that call this program but cannot find it. */
  mends: Mend[];
  /** What any job mentions that may be the token or the name of a snitch. */
  mentioned: Set<string>;
}

export interface WatchedAlready extends PassedOver {
  /** For a cron job, its line. */
  place?: { crontab: Crontab; job: CronJob };
  /** Null if that is not understood. */
  due: Due | null;
  /** What may be the token or the name of its snitch. */
  references: string[];
}

/** A line that does not work, and one that would. */
export interface Mend {
  crontab: Crontab;
  /** From 1. */
  line: number;
  before: string;
  after: string;
}

export interface DiscoverOptions extends Terms {
  /** The directory that stands for `/`. */
  root: string;
  /** Appended to the names, so that several hosts can share a case. */
  host: string;
  /** The time zone of the host according to the user; null to take what the host itself says. */
  timezone: string | null;
}
