/** `snitch discover --apply`: makes snitches, and lets the jobs of this host check in. */

import { placeOf } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { canAsk, confirm } from '../command/prompt.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import type { Output } from '../output/output.ts';
import { outliveReader } from '../output/pieces.ts';
import { crontabChanges, dropInFor, type Watched } from './apply.ts';
import { keptBy } from './check.ts';
import { type CrontabChange, writeCrontab } from './crontab/write.ts';
import type { Discovery } from './discovery.ts';
import { type Finding, findingsOf, type Kept, ownSnitches } from './findings.ts';
import type { DiscoverFlags } from './flags.ts';
import { shown } from './host/host.ts';
import { lockHost } from './host/lock.ts';
import { makeSnitches, updateSnitches } from './make.ts';
import { writeDropIn } from './systemd/drop-in.ts';
import { changeLines, discoveryLines } from './view.ts';

interface Applying {
  flags: DiscoverFlags;
  root: string;
  host: string;
  output: Output;
}

type Report = (watched: readonly Watched[], discovery: Discovery, findings: readonly Finding[]) => void;

/** @param look finds the jobs of the host; called once nobody else can change them */
export async function apply(look: () => Discovery, applying: Applying, report: Report): Promise<void> {
  const { flags, root, host, output } = applying;
  const asking = canAsk();
  if (!flags.yes && !asking) {
    throw new UsageError('nothing was changed: --apply needs --yes without a terminal to ask on');
  }
  using _ = lockHost(root);
  outliveReader();
  const client = connect(flags);
  const found = look();
  const findingsIn = (kept: Kept) => findingsOf(found, kept, host, output.style.now);
  const kept = await keptBy(client);
  const findings = findingsIn(kept);
  if (!flags.yes) {
    const planned = ownSnitches(found, kept.snitches);
    output.lines(discoveryLines(planned, found, findings, output.style));
    const deed = deedOf(planned);
    if (deed !== null && !(await confirm(`${deed}${placeOf(flags)}? [y/N] `)))
      throw new Failure('nothing was changed');
  }
  const { watched, made, refused, remarks } = await makeSnitches(client, found, flags.tag ?? []);
  output.done(`${made} made, ${watched.length - made} there already`);
  for (const remark of remarks) output.done(remark);
  const discovery = { ...found, passedOver: [...found.passedOver, ...refused] };
  writeDropIns(watched, applying);
  const mended = await updateIfWanted(client, findings, applying);
  report(watched, discovery, mended ? findingsIn(await keptBy(client)) : findings);
  const changes = crontabChanges(watched, discovery.mends);
  if (!flags.writeCrontabs) {
    if (changes.length > 0) output.done('no crontab was changed: use --write-crontabs');
    return;
  }
  for (const change of changes) await writeIfWanted(change, applying);
}

/** What is about to be done, for a question; null if there is nothing but changes that have questions of their own. */
function deedOf(planned: readonly Watched[]): string | null {
  const missing = planned.filter(({ snitch }) => snitch === null).length;
  const timers = planned.filter(({ proposal }) => proposal.source.kind === 'timer').length;
  const dropIns =
    timers === 0 ? [] : [`${missing > 0 ? 'write' : 'Write'} ${countOf(timers, 'drop-in', 'drop-ins')}`];
  const parts = [...(missing > 0 ? [`Make ${countOf(missing, 'snitch', 'snitches')}`] : []), ...dropIns];
  return parts.length > 0 ? parts.join(' and ') : null;
}

/** @returns whether snitches were changed */
async function updateIfWanted(
  client: ReturnType<typeof connect>,
  findings: readonly Finding[],
  { flags, output }: Applying,
): Promise<boolean> {
  const mendable = findings.filter(({ difference }) => difference?.changes);
  if (mendable.length === 0) return false;
  const count = mendable.length === 1 ? 'One snitch' : `${mendable.length} snitches`;
  const isWanted =
    flags.update ||
    (!flags.yes &&
      (await confirm(`${count} could be updated to match their jobs${placeOf(flags)}. Update them? [y/N] `)));
  if (!isWanted) {
    output.done(`${count} could be updated to match their jobs: use --update`);
    return false;
  }
  const { updated, lost } = await updateSnitches(client, mendable);
  output.done(`${updated} changed`);
  if (lost.length > 0) {
    output.done(`the server does not know schedules, and these keep their interval: ${lost.join(', ')}`);
  }
  return true;
}

function writeDropIns(watched: readonly Watched[], { root, output }: Applying): void {
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
async function writeIfWanted(change: CrontabChange, { flags, root, output }: Applying): Promise<void> {
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
  output.done(`${path}: written; the old one is in ${shown(root, copy)}`);
}
