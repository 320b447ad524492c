/**
 * Decides how each discovered job should call this program. What is written must work there: with the `PATH` of the
 * crontab, as the user of the job, in its shell. If nothing works, the job is left alone, and the reason is shown.
 */
import { join } from 'node:path';
import { shellWord } from '../../text/shell-word.ts';
import { CRON_PATH, findOnPath, isSameFile, ownProgram } from '../command/own-program.ts';
import { accountOf, ownAccount } from './accounts.ts';
import type { CronJob } from './crontab/lines.ts';
import { wrapCommand } from './crontab/wrap.ts';
import type { Discovery, Mend, Proposal, WatchedAlready } from './discovery.ts';
import type { PassedOver } from './host/host.ts';
import { faultOfProgram, isThere, type Surroundings } from './program-trial.ts';

import { isVisible, serviceFault } from './systemd/sandbox.ts';
import { lastValue } from './systemd/units.ts';

export interface ProgramOptions {
  /** The directory that stands for `/`. */
  root: string;
  /** What jobs should call according to the user; null for this program, wherever it is. */
  given: string | null;
}

/** Cron cuts off a command at this many bytes, and runs what is left of it. */
const LONGEST_COMMAND = 998;

/** Stands in for a check-in address that is not known yet; few are longer. */
const ADDRESS = 'x'.repeat(120);

/** Adds the program to each proposal. If none works for a job, its proposal becomes one that is passed over. */
export function withPrograms(discovery: Discovery, options: ProgramOptions): Discovery {
  const proposals: Proposal[] = [];
  const refused: PassedOver[] = [];
  for (const proposal of discovery.proposals) {
    const choice = programFor(proposal, options);
    if ('program' in choice) proposals.push({ ...proposal, program: choice.program });
    else refused.push({ where: proposal.where, what: whatOf(proposal), reason: choice.fault });
  }
  const { passedOver, ...others } = withoutBroken(discovery, options);
  return { ...others, proposals, passedOver: [...passedOver, ...refused] };
}

/** Takes out the jobs that call this program and do not find it. */
export function withoutBroken(discovery: Discovery, options: ProgramOptions): Discovery {
  const { watched, broken, mends } = sortedOut(discovery.watched, options);
  return { ...discovery, watched, mends, passedOver: [...broken, ...discovery.passedOver] };
}

type Choice = { program: string } | { fault: string };

function programFor(proposal: Proposal, options: ProgramOptions): Choice {
  const { source } = proposal;
  const user = userOf(proposal);
  if (source.kind === 'cron') {
    const choice = programForJob(source.job, user, options);
    if ('fault' in choice) return choice;
    const wrapped = wrapCommand(source.job, `${choice.program} exec ${ADDRESS} --`);
    if (Buffer.byteLength(wrapped) <= LONGEST_COMMAND) return choice;
    return { fault: 'its command would be too long for cron, which would cut it off: put it into a script' };
  }
  const settings = source.timer.serviceSettings;
  const fault = serviceFault(settings);
  if (fault !== null) return { fault };
  const surroundings = { shell: '/bin/sh', path: CRON_PATH };
  const visible = candidates(null, options).filter((program) => isVisible(settings, program));
  if (visible.length === 0)
    return { fault: 'its service cannot see this program (ProtectHome=, PrivateTmp=)' };
  return choose(visible, user, surroundings, options);
}

/** @param user the user of the job; null if the crontab does not say */
function programForJob(job: CronJob, user: string | null, options: ProgramOptions): Choice {
  const path = job.path ?? CRON_PATH;
  return choose(candidates(path, options), user, { shell: job.shell, path }, options);
}

function choose(
  programs: readonly string[],
  user: string | null,
  place: Omit<Surroundings, 'account'>,
  options: ProgramOptions,
): Choice {
  const account = user === null ? ownAccount() : accountOf(user);
  if (account === null && options.root === '/') return { fault: `there is no user ${user} on this host` };
  return firstThatRuns(programs, { ...place, account: account ?? ownAccount() }, options);
}

function userOf({ source, user }: Proposal): string | null {
  if (source.kind === 'cron') return user;
  const settings = source.timer.serviceSettings;
  if (/^(?:yes|true|on|1)$/i.test(lastValue(settings, 'Service', 'DynamicUser') ?? '')) return 'nobody';
  return lastValue(settings, 'Service', 'User') ?? 'root';
}

/**
 * The ways to call the program, the best first.
 *
 * @param path the directories in which a bare name would be looked up; null if only a whole path will do
 */
function candidates(path: string | null, { root, given }: ProgramOptions): string[] {
  if (given !== null) return [given];
  const own = ownProgram();
  const found: string[] = [];
  const resolved = path === null ? null : findOnPath('snitch', path, root);
  const isOwn = resolved !== null && (root !== '/' || (own !== null && isSameFile(resolved, own)));
  if (isOwn) found.push('snitch');
  if (own === null) return found;
  // A name that leads to this program, such as a link in /usr/local/bin, stays valid after an upgrade.
  const called = findOnPath('snitch', process.env.PATH ?? '');
  if (called !== null && isSameFile(called, own)) found.push(called);
  return [...new Set([...found, own])];
}

function firstThatRuns(
  programs: readonly string[],
  surroundings: Surroundings,
  { root }: ProgramOptions,
): Choice {
  const faults: string[] = [];
  for (const program of programs) {
    const fault = faultOf(program, surroundings, root);
    if (fault === null) return { program: shellWord(program) };
    const { account, shell, path } = surroundings;
    faults.push(`${account.name} cannot run ${program}: ${fault} (by ${shell}, PATH=${path})`);
  }
  const reason = faults.at(-1) ?? 'cannot tell which file starts this program';
  return { fault: `${reason}; put it where every job can run it, such as /usr/bin, or use --program` };
}

function faultOf(program: string, surroundings: Surroundings, root: string): string | null {
  // These characters would have to be escaped within the quotes of a unit, and no program has them in its name.
  if (/['"\\$`\n]/.test(program)) return 'its path has quotation marks, dollar signs or backslashes';
  if (root !== '/') {
    const file = program.includes('/') ? program : findOnPath(program, surroundings.path, root);
    // What is below another root belongs to another host, and cannot be tried on this one.
    if (file !== null && isThere(join(root, file))) return null;
    if (!program.startsWith('/')) return 'it is not there';
  }
  return faultOfProgram(shellWord(program), surroundings);
}

/** A call by the bare name, which is not part of a path or of another name. */
const BARE_CALL = /(?<![\w/.-])snitch(?=(?:\s+--server[=\s]\s*\S+)?\s+(?:exec|check-in)\b)/g;

/** Separates the jobs that cannot run, because the `PATH` of their crontab does not lead to this program. */
function sortedOut(watched: readonly WatchedAlready[], options: ProgramOptions) {
  const sound: WatchedAlready[] = [];
  const broken: PassedOver[] = [];
  const mends: Mend[] = [];
  for (const one of watched) {
    const { where, what, place } = one;
    const path = place?.job.path ?? CRON_PATH;
    const isSound = place === undefined || place.job.command.search(BARE_CALL) < 0;
    if (isSound || findOnPath('snitch', path, options.root) !== null) {
      sound.push(one);
      continue;
    }
    const mend = mendOf(place, options);
    if (mend !== null) mends.push(mend);
    const remedy = mend === null ? 'name it with its path' : '--apply --write-crontabs mends it';
    const reason = `\`snitch\` is not in its PATH (${path}), so it would not run: ${remedy}`;
    broken.push({ where, what, reason });
  }
  return { watched: sound, broken, mends };
}

function mendOf({ crontab, job }: Required<WatchedAlready>['place'], options: ProgramOptions): Mend | null {
  const choice = programForJob(job, job.user ?? crontab.user, options);
  // The command may have quotes already, so only a word that needs none can be inserted.
  if ('fault' in choice || !/^[\w/.+-]+$/.test(choice.program)) return null;
  const before = crontab.text.split('\n')[job.line - 1] ?? '';
  const end = job.offset + job.command.length;
  const mended = job.command.replace(BARE_CALL, choice.program);
  return { crontab, line: job.line, before, after: before.slice(0, job.offset) + mended + before.slice(end) };
}

function whatOf({ source, schedule, name }: Proposal): string {
  return source.kind === 'cron' ? `${schedule} ${source.job.command}` : name;
}
