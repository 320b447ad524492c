/** Proposes a snitch for each job of a host. */
import { createHash } from 'node:crypto';
import { NotUnderstood } from '../schedule/schedule.ts';
import { dueOfAnacronJob } from './anacron/due.ts';
import { isLeftToAnacron, readAnacrontab } from './anacron/host.ts';
import { parseAnacrontab } from './anacron/lines.ts';
import { dueOfCronJob } from './crontab/due.ts';
import { type Crontab, readCrontabs } from './crontab/files.ts';
import { type CronJob, type CronUnknown, parseCrontab } from './crontab/lines.ts';
import type { DiscoverOptions, Discovery, Proposal } from './discovery.ts';
import { type Due, NeverAwaited, shownInterval } from './due/due.ts';
import { type HostClock, readClock } from './host/clock.ts';
import type { PassedOver } from './host/host.ts';
import { IGNORE_LIST, type IgnoreList, readIgnoreList } from './host/ignore-list.ts';
import { nameOfCommand } from './names.ts';
import { checksIn, referencesIn } from './references.ts';
import { dueOfTimer, timerText } from './systemd/due.ts';
import { isLeftToSystemd } from './systemd/instead.ts';
import { skippedRuns } from './systemd/skipped-runs.ts';
import { readTimers, type Timer } from './systemd/units.ts';

interface Looking {
  discovery: Discovery;
  options: DiscoverOptions;
  clock: HostClock;
}

export function discover(options: DiscoverOptions): Discovery {
  const { root, host } = options;
  const files = readCrontabs(root);
  const units = readTimers(root);
  const anacron = readAnacrontab(root);
  const ignoring = readIgnoreList(root);
  const faults = ignoring.fault === null ? [] : [ignoring.fault];
  const discovery: Discovery = {
    ...{ proposals: [], watched: [], ignored: [], mends: [], mentioned: new Set<string>() },
    passedOver: [...files.passedOver, ...anacron.passedOver, ...units.passedOver, ...faults],
  };
  const looking = { discovery, options, clock: readClock(root, options.timezone) };
  for (const crontab of files.crontabs) addCrontab(looking, crontab);
  for (const crontab of anacron.crontabs) addAnacrontab(looking, crontab);
  for (const timer of units.timers) addTimer(looking, timer);
  discovery.proposals = withUniqueNames(discovery.proposals, host);
  return withoutIgnored(discovery, ignoring);
}

function addCrontab(looking: Looking, crontab: Crontab): void {
  const { clock, options } = looking;
  for (const found of parseCrontab(crontab.text, crontab.system)) {
    if (found.kind === 'unknown') addUnknown(looking, crontab, found);
    else if (isLeftToAnacron(options.root, found.command)) addLeftToAnacron(looking, crontab, found);
    else if (!checksIn(found.command) && isLeftToSystemd(options.root, found.command)) {
      const reason = 'it does nothing: systemd runs on this host, and a timer is meant to do the job instead';
      looking.discovery.passedOver.push({ ...placeOf(crontab, found), reason, excused: true });
    } else {
      const due = () => dueOfCronJob(found, clock, options);
      addLine(looking, crontab, { job: found, name: nameOfCommand(found.command), due });
    }
  }
}

function addAnacrontab(looking: Looking, crontab: Crontab): void {
  const { clock, options } = looking;
  for (const found of parseAnacrontab(crontab.text)) {
    if (found.kind === 'unknown') addUnknown(looking, crontab, found);
    else {
      const due = () => dueOfAnacronJob(found, clock, options);
      addLine(looking, crontab, { job: found, name: found.id, due });
    }
  }
}

function addUnknown({ discovery }: Looking, crontab: Crontab, { line, text, ...unknown }: CronUnknown): void {
  const place = { where: `${crontab.shown}:${line}`, what: text };
  if (unknown.ignored) discovery.ignored.push({ ...place, reason: BY_COMMENT });
  else discovery.passedOver.push({ ...place, reason: unknown.reason });
}

function addLeftToAnacron({ discovery }: Looking, crontab: Crontab, job: CronJob): void {
  const place = placeOf(crontab, job);
  const isWatched = checksIn(job.command);
  if (isWatched) for (const one of referencesIn(job.command)) discovery.mentioned.add(one);
  const reason = isWatched
    ? 'it checks in without doing anything: anacron is there, and runs the job instead (/etc/anacrontab)'
    : 'it does nothing: anacron is there, and runs the job instead (/etc/anacrontab)';
  discovery.passedOver.push({ ...place, reason, excused: !isWatched });
}

const BY_COMMENT = 'a comment says so';

interface Line {
  job: CronJob;
  name: string;
  due: () => Due;
}

function addLine({ discovery }: Looking, crontab: Crontab, { job, name, due }: Line): void {
  const place = placeOf(crontab, job);
  const references = checksIn(job.command) ? referencesIn(job.command) : [];
  for (const one of references) discovery.mentioned.add(one);
  if (job.ignored) discovery.ignored.push({ ...place, reason: BY_COMMENT });
  else if (checksIn(job.command)) {
    const reason = 'it checks in already';
    discovery.watched.push({ ...place, reason, place: { crontab, job }, due: dueOrNull(due), references });
  } else {
    attempt(discovery, place, () => {
      const found = due();
      return {
        ...{
          name,
          otherNames: [],
          due: found,
          interval: shownInterval(found),
          schedule: shownSchedule(job),
          where: place.where,
        },
        ...{ user: job.user ?? crontab.user, source: { kind: 'cron', crontab, job }, program: 'snitch' },
      };
    });
  }
}

/** In many crontabs tabs align the fields. */
function shownSchedule({ schedule }: CronJob): string {
  return schedule.replace(/\s+/g, ' ');
}

function placeOf(crontab: Crontab, job: CronJob): { where: string; what: string } {
  return { where: `${crontab.shown}:${job.line}`, what: `${shownSchedule(job)} ${job.command}` };
}

function addTimer({ discovery, clock, options }: Looking, timer: Timer): void {
  const { name, settings, service, servicePath, serviceSettings } = timer;
  const place = { where: timer.path, what: name };
  const due = () => dueOfTimer(settings, clock, options);
  const commands = serviceSettings.filter((setting) => setting.name.startsWith('Exec'));
  const checkIns = commands.filter(({ value }) => checksIn(value));
  if (checkIns.length > 0) {
    const references = checkIns.flatMap(({ value }) => referencesIn(value));
    for (const one of references) discovery.mentioned.add(one);
    const reason = 'it checks in already';
    discovery.watched.push({ ...place, reason, due: dueOrNull(due), references });
    return;
  }
  attempt(discovery, place, () => {
    if (!service.endsWith('.service'))
      throw new NotUnderstood(`it starts ${service}, which is not a service`);
    if (servicePath === null) throw new NeverAwaited(`${service} is missing`);
    const found = withRemark(due(), skippedRuns(serviceSettings));
    return {
      name: name.replace(/\.timer$/, ''),
      otherNames: [],
      ...{ due: found, interval: shownInterval(found), schedule: timerText(settings), where: name },
      ...{ user: null, source: { kind: 'timer', timer }, program: 'snitch' },
    };
  });
}

function withRemark(due: Due, remark: string | null): Due {
  return remark === null ? due : { ...due, remarks: [...due.remarks, remark] };
}

function dueOrNull(due: () => Due): Due | null {
  try {
    return due();
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
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
    const excused = error instanceof NeverAwaited;
    discovery.passedOver.push({ ...place, reason: error.message, ...(excused ? { excused } : {}) });
  }
}

/** Takes out everything that the ignore list of the host names: a job by its name, a file, a line of it, or a timer. */
function withoutIgnored(discovery: Discovery, { has }: IgnoreList): Discovery {
  const ignored: PassedOver[] = [];
  const kept = <T>(items: readonly T[], placeOf: (item: T) => PassedOver, namesOf: (item: T) => string[]) =>
    items.filter((item) => {
      const place = placeOf(item);
      if (!has([...namesOf(item), place.where, place.where.replace(/:\d+$/, '')])) return true;
      ignored.push({ where: place.where, what: place.what, reason: `${IGNORE_LIST} names it` });
      return false;
    });
  const proposals = kept(
    discovery.proposals,
    ({ where, name }) => ({ where, what: name, reason: '' }),
    ({ name }) => [name, name.replace(/@[^@]*$/, '')],
  );
  const whole = (place: PassedOver) => place;
  const names = ({ what }: PassedOver) => [what];
  const watched = kept(discovery.watched, whole, names);
  const passedOver = kept(discovery.passedOver, whole, names);
  return { ...discovery, proposals, watched, passedOver, ignored: [...discovery.ignored, ...ignored] };
}

/** The most jobs that are told apart although they are the same in everything, such as copied lines. */
const MOST_TWINS = 20;

/** Proposals with the same name each get a mark, and those with the same mark a number. */
function withUniqueNames(proposals: readonly Proposal[], host: string): Proposal[] {
  const counts = Map.groupBy(proposals, ({ name }) => name);
  const given = new Set<string>();
  return proposals.map((proposal) => {
    const marked = `${proposal.name}-${markOf(proposal)}`;
    const numbered = Array.from({ length: MOST_TWINS - 1 }, (_, index) => `${marked}-${index + 2}`);
    const otherNames = [marked, ...numbered].map((name) => `${name}@${host}`);
    const isUnique = counts.get(proposal.name)?.length === 1;
    const free = otherNames.find((name) => !given.has(name)) ?? `${marked}@${host}`;
    const name = isUnique ? `${proposal.name}@${host}` : free;
    given.add(name);
    return { ...proposal, name, otherNames };
  });
}

function markOf({ source, user, where }: Proposal): string {
  const what = source.kind === 'cron' ? `${source.job.schedule} ${user} ${source.job.command}` : where;
  return createHash('sha256').update(what).digest('hex').slice(0, 6);
}
