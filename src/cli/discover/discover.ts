/** `snitch discover`: finds the jobs of this host and proposes a snitch for each. */
import { statSync } from 'node:fs';
import { addClientOptions, collect, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { UsageError } from '../failure/failure.ts';
import { Output } from '../output/output.ts';
import type { Watched } from './apply.ts';
import { apply } from './carry-out.ts';
import { keptBy, reportCheck } from './check.ts';
import type { DiscoverOptions, Discovery } from './discovery.ts';
import { type Finding, findingsOf } from './findings.ts';
import { type DiscoverFlags, optionsIn, programIn } from './flags.ts';
import { IGNORE_LIST } from './host/ignore-list.ts';
import { withoutBroken, withPrograms } from './programs.ts';
import { discover } from './proposals.ts';
import { discoveryData, discoveryLines } from './view.ts';

const NOTES = `
It reads /etc/crontab, /etc/cron.d, the crontabs of users, /etc/anacrontab, and the timers of systemd that are enabled.
A snitch gets the expression of its job, the time zone of the host or what CRON_TZ says, and a grace: what the host
itself may be late (RandomizedDelaySec=, AccuracySec=, the delay of anacron), and a tenth of the shortest time between two
runs, from a minute to an hour, for the run itself. Without --apply nothing is changed, and no server is needed. Where
one answers, it is said which snitches differ from their jobs.

--apply makes the snitches, and for each timer a drop-in beside its service. A crontab is written only with
--write-crontabs, after its changes were shown and confirmed; --yes confirms them too. What it was is kept below
/var/backups/snitch. Snitches that are there already are changed only with --update, or when you say so.

--check lists the jobs that are not watched, the snitches that expect something else than their job does, and those
whose job is gone. It ends with 1 if there are any, with 0 if there are none, and with 4 or 5 if it could not ask.

A job that is not to be watched has the comment # snitch: ignore above its line, or its name in
${IGNORE_LIST}, where stars stand for anything: one a line.

What is written calls this program by its bare name where the PATH of the crontab leads to it, else by its whole path,
and was tried as the user of the job before. A job that cannot run it is not proposed, and the reason is said.`;

export const register: Register = (program, finish) => {
  const command = program
    .command('discover')
    .description('find the cron jobs and timers of this host, and propose snitches for them')
    .option('--check', 'whether all jobs are watched, and by what they expect: exits with 1 if not')
    .option('--apply', 'make the snitches, and write drop-ins for timers')
    .option('--write-crontabs', 'with --apply: also put the wrapper into the crontabs')
    .option('--update', 'with --apply: also give snitches that are there what their jobs have become')
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
    .option('-t, --tag <tag>', 'a tag for the snitches; repeat it for several', collect)
    .option(
      '--grace <duration>',
      'for each run, beside what the host itself may be late (default: what fits)',
    )
    .option('--timezone <zone>', 'in which cron and timers run (default: that of /etc/localtime)')
    .option('--host <name>', 'what the names of the snitches end with (default: the name of this host)')
    .option('--program <path>', 'what the jobs call, where it is not the program that runs here')
    .option('--root <directory>', 'read and write below this directory, as if it were /', '/')
    .action(async (flags: DiscoverFlags) => finish(await discoverJobs(flags)))
    .addHelpText('after', NOTES);
  withExamples(
    addClientOptions(command),
    'snitch discover',
    'sudo snitch discover --apply',
    'sudo snitch discover --apply --write-crontabs',
    'sudo snitch discover --check',
  );
};

async function discoverJobs(flags: DiscoverFlags): Promise<number> {
  const options = optionsIn(flags, Date.now());
  const { root, host } = options;
  // A mistyped directory would look like a host without any jobs.
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--root: ${root} is no directory`);
  }
  const output = new Output(flags);
  const programs = { root, given: programIn(flags) };
  if (flags.check) {
    const kept = await keptBy(connect(flags));
    return reportCheck({ discovery: withoutBroken(discover(options), programs), kept, host, output });
  }
  const look = () => withPrograms(discover(options), programs);
  const reportTo = (watched: readonly Watched[], discovery: Discovery, findings: readonly Finding[] | null) =>
    report(output, watched, discovery, findings);
  if (flags.apply) await apply(look, { flags, root, host, output }, reportTo);
  else await propose(look(), { flags, options, output });
  return 0;
}

interface Proposing {
  flags: DiscoverFlags;
  options: DiscoverOptions;
  output: Output;
}

async function propose(discovery: Discovery, { flags, options, output }: Proposing): Promise<void> {
  const watched = discovery.proposals.map((proposal) => ({ proposal, snitch: null }));
  report(output, watched, discovery, await findingsIfAny(discovery, { flags, options, output }));
  if (watched.length > 0) output.hint('to make them: snitch discover --apply');
}

/** How long to wait for a server that is not needed. */
const PATIENCE = '10s';

/** Null where no server tells, which is no fault: a proposal needs none. */
async function findingsIfAny(
  discovery: Discovery,
  { flags, options, output }: Proposing,
): Promise<Finding[] | null> {
  try {
    const client = connect({ ...flags, timeout: flags.timeout ?? PATIENCE });
    return findingsOf(discovery, await keptBy(client), options.host, options.now);
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    output.done(`not compared with the snitches that there are: ${reason}`);
    return null;
  }
}

function report(
  output: Output,
  watched: readonly Watched[],
  discovery: Discovery,
  findings: readonly Finding[] | null,
): void {
  if (output.format === 'json') output.json(discoveryData(watched, discovery, findings));
  else if (output.quiet || output.format === 'name') {
    output.list(
      watched.map(({ proposal, snitch }) => snitch?.name ?? proposal.name),
      { columns: [], name: (name) => name, id: (name) => name, empty: '' },
    );
  } else output.lines(discoveryLines(watched, discovery, findings, output.style));
  const [jobs, others] = [watched.length, discovery.watched.length];
  const differing = findings?.filter(({ kind }) => kind === 'drifted').length ?? 0;
  const more = differing > 0 ? `, ${differing} not as expected` : '';
  output.done(
    `${jobs} proposed, ${others} watched already, ${discovery.passedOver.length} not proposed${more}`,
  );
}
