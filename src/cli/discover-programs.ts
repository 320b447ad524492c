/**
 * How each job that was found is to call this program. What is written must run where it stands: with the `PATH` of
 * its crontab, as its user, through its shell. Where nothing does, the job is left as it is, and that is said.
 */
import { join } from 'node:path';
import { type Account, accountOf, ownAccount } from './accounts.ts';
import type { Discovery, Proposal } from './discover-proposals.ts';
import { CRON_PATH, findOnPath, isSameFile, ownProgram, shellWord } from './own-program.ts';
import { faultOfProgram, isThere, type Surroundings } from './program-trial.ts';
import { serviceFault } from './systemd-sandbox.ts';
import { lastValue, type PassedOver } from './systemd-units.ts';

export interface ProgramOptions {
  /** The directory that stands for `/`. */
  root: string;
  /** What the user says that jobs call; null for this program, wherever it is. */
  given: string | null;
}

/** Cron reads no more of a command than 999 bytes, and runs what it has read; the address takes some of them. */
const LONGEST_COMMAND = 999 - 250;

/** Adds the program to each proposal; where there is none that runs, the proposal becomes one that is passed over. */
export function withPrograms(discovery: Discovery, options: ProgramOptions): Discovery {
  const proposals: Proposal[] = [];
  const refused: PassedOver[] = [];
  for (const proposal of discovery.proposals) {
    const choice = programFor(proposal, options);
    if ('program' in choice) proposals.push({ ...proposal, program: choice.program });
    else refused.push({ where: proposal.where, what: whatOf(proposal), reason: choice.fault });
  }
  const broken = discovery.watched.flatMap((one) => brokenCall(one, options));
  return {
    proposals,
    watched: discovery.watched.filter(({ where }) => !broken.some((one) => one.where === where)),
    passedOver: [...broken, ...discovery.passedOver, ...refused],
  };
}

type Choice = { program: string } | { fault: string };

function programFor(proposal: Proposal, options: ProgramOptions): Choice {
  const { source } = proposal;
  if (source.kind === 'timer') {
    const fault = serviceFault(source.timer.serviceSettings);
    if (fault !== null) return { fault };
  } else if (Buffer.byteLength(source.job.command) > LONGEST_COMMAND) {
    return { fault: 'its command is so long that cron would cut it off: put it into a script' };
  }
  const user = userOf(proposal);
  const account = user === null ? ownAccount() : accountOf(user);
  if (account === null && options.root === '/') return { fault: `there is no user ${user} on this host` };
  return firstThatRuns(candidates(proposal, options), surroundingsOf(proposal, account), options);
}

function userOf({ source, user }: Proposal): string | null {
  if (source.kind === 'cron') return user;
  const settings = source.timer.serviceSettings;
  if (/^(?:yes|true|on|1)$/i.test(lastValue(settings, 'Service', 'DynamicUser') ?? '')) return 'nobody';
  return lastValue(settings, 'Service', 'User') ?? 'root';
}

function surroundingsOf({ source }: Proposal, account: Account | null): Surroundings {
  const of = account ?? ownAccount();
  if (source.kind === 'timer') return { account: of, shell: '/bin/sh', path: CRON_PATH };
  return { account: of, shell: source.job.shell, path: source.job.path ?? CRON_PATH };
}

/** What could be written, the best first. */
function candidates({ source }: Proposal, { root, given }: ProgramOptions): string[] {
  if (given !== null) return [given];
  const own = ownProgram();
  const found: string[] = [];
  if (source.kind === 'cron') {
    const resolved = findOnPath('snitch', source.job.path ?? CRON_PATH, root);
    const isOwn = resolved !== null && (root !== '/' || (own !== null && isSameFile(resolved, own)));
    if (isOwn) found.push('snitch');
  }
  if (own === null) return found;
  // A name that leads here, such as a link in /usr/local/bin, stays good when another version takes its place.
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
    faults.push(`${surroundings.account.name} cannot run ${program}: ${fault}`);
  }
  const reason = faults.at(-1) ?? 'no file is known that starts this program';
  return { fault: `${reason}; put it where everybody may run it, such as /usr/bin, or use --program` };
}

function faultOf(program: string, surroundings: Surroundings, root: string): string | null {
  // Within the quotes of a unit these would need others of their own; nobody names a program so.
  if (/['"\\$`\n]/.test(program)) return 'its path has quotation marks, dollar signs or backslashes';
  if (root !== '/') {
    const file = program.includes('/') ? program : findOnPath(program, surroundings.path, root);
    // What lies below another root belongs to another host, and cannot be tried on this one.
    if (file !== null && isThere(join(root, file))) return null;
    if (!program.startsWith('/')) return 'it is not there';
  }
  return faultOfProgram(shellWord(program), surroundings);
}

/** A call by the bare name, in a crontab whose `PATH` does not lead to the program: the job does not run. */
function brokenCall({ where, what, path }: PassedOver & { path?: string | null }, options: ProgramOptions) {
  if (path === undefined || !/(?<![\w/.-])snitch\s+(?:exec|check-in)\b/.test(what)) return [];
  if (findOnPath('snitch', path ?? CRON_PATH, options.root) !== null) return [];
  const own = ownProgram() ?? '/usr/bin/snitch';
  const reason = `\`snitch\` is not in its PATH (${path ?? CRON_PATH}), so that it does not run: write ${own}`;
  return [{ where, what, reason }];
}

function whatOf({ source, schedule, name }: Proposal): string {
  return source.kind === 'cron' ? `${schedule} ${source.job.command}` : name;
}
