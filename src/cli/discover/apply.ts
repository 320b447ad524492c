/** What the jobs of proposed snitches need to check in. */
import type { WireSnitch } from '../../api/wire.ts';
import { shellWord } from '../../text/shell-word.ts';
import { DEFAULT_URL, serversOf } from '../command/servers.ts';
import { readCli } from '../command/settings-files.ts';
import { Failure } from '../failure/failure.ts';
import { wrappedLine } from './crontab/wrap.ts';
import { type CrontabChange, changeOf } from './crontab/write.ts';
import type { Mend, Proposal } from './discovery.ts';
import { dropInText } from './systemd/drop-in.ts';

/** A proposal and the snitch that was made for it; null until then. */
export interface Watched {
  proposal: Proposal;
  snitch: WireSnitch | null;
}

/** What to put before the command of a cron job. It names a server elsewhere, because cron has none of our settings. */
export function wrapperFor({ proposal: { program }, snitch }: Watched): string {
  return `${program} exec ${addressOf(snitch)} --`;
}

export function dropInFor({ proposal: { program }, snitch }: Watched): string {
  // The script of the drop-in is in single quotes.
  return dropInText(`${program} check-in ${addressOf(snitch)}`.replaceAll("'", '"'));
}

function addressOf(snitch: WireSnitch | null): string {
  if (snitch === null) return 'TOKEN';
  const { check_in_url, token } = snitch;
  // The server's answer becomes part of a line that root runs.
  if (!/^https?:\/\/[\w.~:@%/[\]-]+$/.test(check_in_url)) {
    throw new Failure(
      `the server gives ${snitch.name} a check-in address that cannot be written into a crontab`,
    );
  }
  const isPlain = serversOf(readCli(process.env)).length === 0;
  return isPlain && check_in_url === `${DEFAULT_URL}/c/${token}` ? token : shellWord(check_in_url);
}

/** One change for each crontab that has proposed jobs or lines to be mended. */
export function crontabChanges(watched: readonly Watched[], mends: readonly Mend[] = []): CrontabChange[] {
  const wrapped = watched.flatMap((one) => {
    const { source } = one.proposal;
    if (source.kind !== 'cron') return [];
    const { crontab, job } = source;
    return [{ crontab, line: job.line, ...wrappedLine(crontab.text, job, wrapperFor(one)) }];
  });
  const byFile = Map.groupBy([...wrapped, ...mends], ({ crontab }) => crontab);
  return [...byFile].map(([crontab, lines]) => changeOf(crontab, lines));
}
