/** `snitch discover --check`: whether all jobs of this host are watched, by snitches that expect what the jobs do. */
import type { Client } from '../../api/client.ts';
import { printable } from '../../text/printable.ts';
import { EXIT } from '../failure/exit-codes.ts';
import type { Output } from '../output/output.ts';
import type { Discovery } from './discovery.ts';
import { type Finding, findingsOf, isFault, type Kept } from './findings.ts';
import { IGNORE_LIST } from './host/ignore-list.ts';
import { ALL_KINDS, findingData, findingLines } from './view.ts';

/** @throws Unreachable, ApiError if the server cannot or will not say */
export async function keptBy(client: Client): Promise<Kept> {
  const [snitches, { timezone }] = await Promise.all([client.listSnitches(), client.getCase()]);
  return { snitches, caseZone: timezone };
}

export interface Checking {
  discovery: Discovery;
  kept: Kept;
  host: string;
  output: Output;
}

/** @returns the exit code: 1 if something is wrong */
export function reportCheck({ discovery, kept, host, output }: Checking): number {
  const findings = findingsOf(discovery, kept, host, output.style.now);
  const faults = findings.filter(isFault);
  if (output.format === 'json') {
    output.json({
      ok: faults.length === 0,
      findings: findings.map(findingData),
      watched: discovery.watched.map(({ where }) => ({ where })),
      ignored: discovery.ignored.map(({ where, reason }) => ({ where, reason })),
    });
  } else if (output.quiet || output.format === 'name') {
    output.lines(faults.map(({ name, where }) => printable(name || where)));
  } else output.lines(findingLines(findings, ALL_KINDS, output.style));
  output.done(inWords(discovery, findings));
  if (faults.some(({ kind }) => kind === 'unwatched')) {
    output.done('to watch them: snitch discover --apply --write-crontabs');
    output.done(`to leave one out: write # snitch: ignore above its line, or its name into ${IGNORE_LIST}`);
  }
  if (findings.some(({ difference }) => difference?.changes)) {
    output.done('to update the snitches to match their jobs: snitch discover --apply --update');
  }
  return faults.length === 0 ? EXIT.ok : EXIT.error;
}

function inWords({ watched, ignored }: Discovery, findings: readonly Finding[]): string {
  const count = (...kinds: readonly string[]) => findings.filter(({ kind }) => kinds.includes(kind)).length;
  const parts = [
    `${watched.length} watched`,
    `${count('unwatched', 'unclear')} not watched`,
    `${count('drifted')} not as expected`,
    `${count('unknown')} without a snitch`,
    `${count('gone')} snitches without a job`,
    `${ignored.length} ignored`,
  ];
  return parts.join(', ');
}
