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
It reads /etc/crontab, /etc/cron.d, the crontabs of users, /etc/anacrontab, and the enabled timers of systemd, but not
those of users (systemctl --user). A snitch gets the expression of its job, the time zone of the host or of CRON_TZ,
and a grace: the delay that the host itself may add (RandomizedDelaySec=, AccuracySec=, the delay of anacron), plus a
tenth of the shortest time between two runs, from a minute to an hour, for the run itself. Without --apply nothing is
changed, and no server is needed; if one answers, the output shows which snitches differ from their jobs.

--apply creates the snitches, and for each timer a drop-in beside its service. A crontab is written only with
--write-crontabs, after you have seen and confirmed its changes; --yes confirms them too. The old crontab is kept below
/var/backups/snitch. Existing snitches are changed only with --update, or when you say so.

--check lists the jobs that are not watched, the snitches that expect something other than what their job does, and
those whose job is gone. It exits with 1 if there are any, 0 if there are none, and 4 or 5 if it could not ask the server.

To leave a job out, put the comment # snitch: ignore above its line, or its name into
${IGNORE_LIST}, one a line; a star there matches anything.

The lines that it writes call this program by its bare name if it is on the PATH of the crontab, and by its full path
otherwise. It first tries that as the user of the job; a job that cannot run it is not proposed, and you are told why.`;

export const register: Register = (program, finish) => {
  const command = program
    .command('discover')
    .description('find the cron jobs and timers on this host, and propose snitches for them')
    .option('--check', 'check that all jobs are watched, by snitches that match: exits with 1 if not')
    .option('--apply', 'create the snitches, and write drop-ins for timers')
    .option('--write-crontabs', 'with --apply: also add `snitch exec` to the jobs in the crontabs')
    .option('--update', 'with --apply: also update existing snitches to match their jobs')
    .option('-y, --yes', 'do not ask; needed without a terminal')
    .option('-t, --tag <tag>', 'a tag for the snitches; repeat it for several', collect)
    .option('--grace <duration>', 'for each run, on top of delays on the host itself (default: what fits)')
    .option(
      '--timezone <zone>',
      'the time zone that cron and timers run in (default: that of /etc/localtime)',
    )
    .option('--host <name>', 'the end of the names of the snitches (default: the name of this host)')
    .option('--program <path>', 'the snitch that jobs call, if it is not the one running now')
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
  if (watched.length > 0) output.hint('to create them: snitch discover --apply');
}

/** How long to wait for a server that is not needed. */
const PATIENCE = '10s';

/** Null if no server answers, which is no fault: a proposal does not need one. */
async function findingsIfAny(
  discovery: Discovery,
  { flags, options, output }: Proposing,
): Promise<Finding[] | null> {
  try {
    const client = connect({ ...flags, timeout: flags.timeout ?? PATIENCE });
    return findingsOf(discovery, await keptBy(client), options.host, options.now);
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    output.done(`not compared with the existing snitches: ${reason}`);
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
