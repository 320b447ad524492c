/** Proposes a snitch for each job of a host. */
import { createHash } from 'node:crypto';
import { parseCronSchedule } from '../schedule/cron.ts';
import { gapInWords, intervalForGap, longestGap, NotUnderstood } from '../schedule/schedule.ts';
import { type Crontab, readCrontabs } from './crontab/files.ts';
import { type CronJob, parseCrontab } from './crontab/lines.ts';
import type { PassedOver } from './host/host.ts';
import { nameOfCommand } from './names.ts';
import { scheduleOfTimer } from './systemd/schedule.ts';
import { readTimers, type Timer } from './systemd/units.ts';

export type Source = { kind: 'cron'; crontab: Crontab; job: CronJob } | { kind: 'timer'; timer: Timer };

export interface Proposal {
  name: string;
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
  /** Everything for which nothing is proposed. */
  passedOver: PassedOver[];
  /** Lines that call this program but cannot find it. */
  mends: Mend[];
}

export interface WatchedAlready extends PassedOver {
  /** For a cron job, its line. */
  place?: { crontab: Crontab; job: CronJob };
}

/** A line that does not work, and one that would. */
export interface Mend {
  crontab: Crontab;
  /** From 1. */
  line: number;
  before: string;
  after: string;
}

const WATCHED =
  /\bsnitch[\w.-]*['"]?\s+(?:exec|check-in)\b|\s(?:exec|check-in)\s+[a-z2-7]{26}\b|https?:\/\/[^\s'"]+\/c\/[A-Za-z0-9_-]{6,64}\b/;

/**
 * @param root the directory that stands for `/`
 * @param host is appended to the names, so that several hosts can share a case
 */
export function discover(root: string, host: string): Discovery {
  const { crontabs, passedOver } = readCrontabs(root);
  const units = readTimers(root);
  const discovery: Discovery = {
    proposals: [],
    watched: [],
    mends: [],
    passedOver: [...passedOver, ...units.passedOver],
  };
  for (const crontab of crontabs) addCrontab(discovery, crontab);
  for (const timer of units.timers) addTimer(discovery, timer);
  discovery.proposals = withUniqueNames(discovery.proposals).map((proposal) => ({
    ...proposal,
    name: `${proposal.name}@${host}`,
  }));
  return discovery;
}

function addCrontab(discovery: Discovery, crontab: Crontab): void {
  for (const found of parseCrontab(crontab.text, crontab.system)) {
    const where = `${crontab.shown}:${found.line}`;
    if (found.kind === 'unknown') {
      discovery.passedOver.push({ where, what: found.text, reason: found.reason });
      continue;
    }
    const what = `${found.schedule} ${found.command}`;
    if (WATCHED.test(found.command)) {
      discovery.watched.push({ where, what, reason: 'it checks in already', place: { crontab, job: found } });
      continue;
    }
    attempt(discovery, { where, what }, () => ({
      name: nameOfCommand(found.command),
      interval: intervalOf(longestGap([parseCronSchedule(found.schedule)])),
      schedule: found.schedule,
      where,
      user: found.user ?? crontab.user,
      source: { kind: 'cron', crontab, job: found },
      program: 'snitch',
    }));
  }
}

function addTimer(discovery: Discovery, timer: Timer): void {
  const { name, settings, service, servicePath, serviceSettings } = timer;
  const place = { where: timer.path, what: name };
  const commands = serviceSettings.filter((setting) => setting.name.startsWith('Exec'));
  if (commands.some(({ value }) => WATCHED.test(value))) {
    discovery.watched.push({ ...place, reason: 'it checks in already' });
    return;
  }
  attempt(discovery, place, () => {
    if (!service.endsWith('.service')) throw new NotUnderstood(`it starts ${service}, which is no service`);
    if (servicePath === null) throw new NotUnderstood(`${service} is missing`);
    const { gap, text } = scheduleOfTimer(settings);
    return {
      name: name.replace(/\.timer$/, ''),
      interval: intervalOf(gap),
      schedule: text,
      where: name,
      user: null,
      source: { kind: 'timer', timer },
      program: 'snitch',
    };
  });
}

function attempt(
  discovery: Discovery,
  place: { where: string; what: string },
  propose: () => Proposal,
): void {
  try {
    discovery.proposals.push(propose());
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    discovery.passedOver.push({ ...place, reason: error.message });
  }
}

function intervalOf(gap: number | null): string {
  if (gap === null) throw new NotUnderstood('it never runs twice');
  const interval = intervalForGap(gap);
  if (interval !== null) return interval;
  throw new NotUnderstood(
    `up to ${gapInWords(gap)} pass between two runs, and the longest interval is monthly`,
  );
}

/** Proposals with the same name each get a mark, which stays the same when lines are moved. */
function withUniqueNames(proposals: readonly Proposal[]): Proposal[] {
  const counts = Map.groupBy(proposals, ({ name }) => name);
  return proposals.map((proposal) => {
    if ((counts.get(proposal.name)?.length ?? 0) < 2) return proposal;
    return { ...proposal, name: `${proposal.name}-${markOf(proposal)}` };
  });
}

function markOf({ source, schedule, user, where }: Proposal): string {
  const what = source.kind === 'cron' ? `${schedule} ${user} ${source.job.command}` : where;
  return createHash('sha256').update(what).digest('hex').slice(0, 6);
}
