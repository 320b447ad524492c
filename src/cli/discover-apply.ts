/** Makes the snitches that were proposed, and what the jobs need to check in. */
import type { Client } from '../api/client.ts';
import type { WireSnitch } from '../api/wire.ts';
import { batchesOf } from './apply-batches.ts';
import { patiently } from './apply-steps.ts';
import { DEFAULT_URL } from './connection.ts';
import { type CrontabChange, changeOf } from './crontab-write.ts';
import type { Proposal } from './discover-proposals.ts';
import { dropInText } from './systemd-drop-in.ts';

/** A proposal and the snitch that was made for it; null before. */
export interface Watched {
  proposal: Proposal;
  snitch: WireSnitch | null;
}

/** Those that are there under the same name are taken as they are, so that a second run makes nothing twice. */
export async function makeSnitches(
  client: Client,
  proposals: readonly Proposal[],
  tags: readonly string[],
): Promise<{ watched: Watched[]; made: number }> {
  const present = new Map((await client.listSnitches()).map((snitch) => [snitch.name, snitch]));
  const missing = proposals.filter(({ name }) => !present.has(name));
  const inputs = missing.map((proposal) => ({
    name: proposal.name,
    interval: proposal.interval,
    tags: [...tags],
    // Not the command: it may hold a password, and notes are sent with every alert.
    notes: `Found by discover: ${proposal.where} (${proposal.schedule}${proposal.user === null ? '' : `, ${proposal.user}`})`,
  }));
  for (const batch of batchesOf(inputs)) {
    const made = await patiently(() => client.importSnitches(batch, null));
    for (const snitch of made) present.set(snitch.name, snitch);
  }
  const watched = proposals.map((proposal) => ({ proposal, snitch: present.get(proposal.name) ?? null }));
  return { watched, made: missing.length };
}

/** How the jobs call this program. */
export interface Caller {
  program: string;
}

/** Before the command of a cron job; a server elsewhere is named, because cron knows no settings of ours. */
export function wrapperFor({ snitch }: Watched, { program }: Caller): string {
  if (snitch === null) return `${program} exec TOKEN --`;
  const address = isLocal(snitch) ? snitch.token : quoted(snitch.check_in_url);
  return `${program} exec ${address} --`;
}

export function dropInFor({ snitch }: Watched, { program }: Caller): string {
  if (snitch === null) return dropInText(`${program} check-in TOKEN`);
  const base = snitch.check_in_url.slice(0, -snitch.token.length - 1);
  const setting = isLocal(snitch) ? '' : `env SNITCH_CHECK_IN_BASE=${doubleQuoted(base)} `;
  return dropInText(`${setting}${program} check-in ${snitch.token}`);
}

function isLocal({ check_in_url, token }: WireSnitch): boolean {
  return check_in_url === `${DEFAULT_URL}/c/${token}`;
}

function quoted(text: string): string {
  return /^[\w:/.[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Within the single quotes of the unit. */
function doubleQuoted(text: string): string {
  return /^[\w:/.[\]-]+$/.test(text) ? text : `"${text.replace(/["\\$`']/g, '')}"`;
}

/** One change for each crontab that has jobs among the proposals. */
export function crontabChanges(watched: readonly Watched[], caller: Caller): CrontabChange[] {
  const jobs = watched.flatMap((one) =>
    one.proposal.source.kind === 'cron' ? [{ ...one.proposal.source, wrapper: wrapperFor(one, caller) }] : [],
  );
  const byFile = Map.groupBy(jobs, ({ crontab }) => crontab);
  return [...byFile].map(([crontab, wrappers]) => changeOf(crontab, wrappers));
}
