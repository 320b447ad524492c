/** `snitch discover`: finds the jobs of this host and proposes a snitch for each. */
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withExamples,
} from '../command/command.ts';
import { confirm } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { Output } from '../output/output.ts';
import { crontabChanges, dropInFor, makeSnitches, type Watched } from './apply.ts';
import { type CrontabChange, writeCrontab } from './crontab/write.ts';
import { shown } from './host/host.ts';
import { withPrograms } from './programs.ts';
import { type Discovery, discover } from './proposals.ts';
import { writeDropIn } from './systemd/drop-in.ts';
import { changeLines, discoveryData, discoveryLines } from './view.ts';

interface DiscoverFlags extends ClientFlags {
  root: string;
  host?: string;
  program?: string;
  tag?: string[];
  apply?: boolean;
  yes?: boolean;
  writeCrontabs?: boolean;
}

const NOTES = `
It reads /etc/crontab, /etc/cron.d, the crontabs of users, and the timers of systemd that are enabled. The interval is
the shortest that is not shorter than the longest time between two runs. Without --apply nothing is changed, and no
server is needed.

--apply makes the snitches, and for each timer a drop-in beside its service. A crontab is written only with
--write-crontabs, after its changes were shown and confirmed; --yes confirms them too. What it was is kept below
/var/backups/snitch.

What is written calls this program by its bare name where the PATH of the crontab leads to it, else by its whole path,
and was tried as the user of the job before. A job that cannot run it is not proposed, and the reason is said.`;

export const register: Register = (program) => {
  const command = program
    .command('discover')
    .description('find the cron jobs and timers of this host, and propose snitches for them')
    .option('--apply', 'make the snitches, and write drop-ins for timers')
    .option('--write-crontabs', 'with --apply: also put the wrapper into the crontabs')
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
    .option('-t, --tag <tag>', 'a tag for the snitches; repeat it for several', collect)
    .option('--host <name>', 'what the names of the snitches end with (default: the name of this host)')
    .option('--program <path>', 'what the jobs call, where it is not the program that runs here')
    .option('--root <directory>', 'read and write below this directory, as if it were /', '/')
    .action((flags: DiscoverFlags) => discoverJobs(flags))
    .addHelpText('after', NOTES);
  withExamples(
    addClientOptions(command),
    'snitch discover',
    'sudo snitch discover --apply',
    'sudo snitch discover --apply --write-crontabs',
  );
};

async function discoverJobs(flags: DiscoverFlags): Promise<void> {
  if (flags.writeCrontabs && !flags.apply) throw new UsageError('--write-crontabs goes with --apply');
  const root = resolve(flags.root);
  // A mistyped directory would look like a host without any jobs.
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--root: ${root} is no directory`);
  }
  const host = flags.host ?? hostname().split('.', 1)[0] ?? 'host';
  const discovery = withPrograms(discover(root, host), { root, given: programIn(flags) });
  const output = new Output(flags);
  if (flags.apply) return apply(discovery, { flags, root, output });
  const watched = discovery.proposals.map((proposal) => ({ proposal, snitch: null }));
  report(output, watched, discovery);
  if (watched.length > 0) output.hint('to make them: snitch discover --apply');
}

/** Makes a path absolute, because jobs do not start in the present directory. */
function programIn({ program }: DiscoverFlags): string | null {
  if (program === undefined) return null;
  if (program === '' || /['"\\\p{Cc}]/u.test(program)) {
    throw new UsageError('--program: must be a name or a path, without quotation marks and backslashes');
  }
  return program.includes('/') ? resolve(program) : program;
}

function report(output: Output, watched: readonly Watched[], discovery: Discovery): void {
  if (output.format === 'json') output.json(discoveryData(watched, discovery));
  else if (output.quiet || output.format === 'name') {
    output.list(
      watched.map(({ proposal }) => proposal),
      { columns: [], name: ({ name }) => name, id: ({ name }) => name, empty: '' },
    );
  } else output.lines(discoveryLines(watched, discovery, output.style));
  const [jobs, others] = [watched.length, discovery.watched.length];
  output.done(`${jobs} proposed, ${others} watched already, ${discovery.passedOver.length} not proposed`);
}

interface Applying {
  flags: DiscoverFlags;
  root: string;
  output: Output;
}

async function apply(discovery: Discovery, { flags, root, output }: Applying): Promise<void> {
  const asking = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!flags.yes && !asking) {
    throw new UsageError('nothing was changed: --apply needs --yes where there is no terminal to ask on');
  }
  const client = connect(flags);
  if (!flags.yes) {
    const planned = discovery.proposals.map((proposal) => ({ proposal, snitch: null }));
    output.lines(discoveryLines(planned, discovery, output.style));
    if (!(await confirm(`Make ${planned.length} snitches? [y/N] `))) throw new Failure('nothing was changed');
  }
  const { watched, made } = await makeSnitches(client, discovery.proposals, flags.tag ?? []);
  output.done(`${made} made, ${watched.length - made} there already`);
  writeDropIns(watched, { root, output });
  report(output, watched, discovery);
  const changes = crontabChanges(watched, discovery.mends);
  if (!flags.writeCrontabs) {
    if (changes.length > 0) output.done('no crontab was written: see --write-crontabs');
    return;
  }
  for (const change of changes) await writeIfWanted(change, { flags, root, output });
}

function writeDropIns(
  watched: readonly Watched[],
  { root, output }: Pick<Applying, 'root' | 'output'>,
): void {
  const services = watched.flatMap((one) =>
    one.proposal.source.kind === 'timer' ? [{ one, service: one.proposal.source.timer.service }] : [],
  );
  for (const { one, service } of services) {
    try {
      writeDropIn(root, service, dropInFor(one));
    } catch (error) {
      throw new Failure(`the drop-in for ${service} was not written: ${(error as Error).message}`);
    }
    output.done(`${service}: drop-in written`);
  }
  if (services.length > 0) output.done('now run: systemctl daemon-reload');
}

/** Shows the diff on stderr, where the question is asked too, whatever stdout is used for. */
async function writeIfWanted(
  change: CrontabChange,
  { flags, root, output }: Pick<Applying, 'flags' | 'root' | 'output'>,
): Promise<void> {
  const { shown: path } = change.crontab;
  process.stderr.write(`${changeLines(change, { ...output.style, color: false }).join('\n')}\n`);
  if (!flags.yes && !(await confirm(`Write ${path}? [y/N] `))) {
    output.done(`${path}: left as it is`);
    return;
  }
  let copy: string;
  try {
    copy = writeCrontab(change, root, Date.now());
  } catch (error) {
    throw new Failure(`${path} was not written: ${(error as Error).message}`);
  }
  output.done(`${path}: written; what it was is in ${shown(root, copy)}`);
}
