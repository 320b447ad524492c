/** Makes the snitches that were proposed, and changes others to match what their jobs have become. */
import type { Client, ImportInput, SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { patiently } from '../file/apply-steps.ts';
import { batchesOf, inBatchesOrOneByOne } from '../file/batches.ts';
import { countOf } from '../output/count.ts';
import { knowsSchedules } from '../snitches/due-answer.ts';
import type { Watched } from './apply.ts';
import type { Discovery, Proposal } from './discovery.ts';
import type { Finding } from './findings.ts';
import { ownSnitches } from './findings.ts';
import type { PassedOver } from './host/host.ts';

export interface Made {
  watched: Watched[];
  made: number;
  /** Jobs whose snitches the server refuses. */
  refused: PassedOver[];
  /** What differs from what was shown. */
  remarks: string[];
}

interface Wanted {
  proposal: Proposal;
  input: ImportInput & { name: string };
}

/** Makes the snitches, except those that are there already, so that a second run makes nothing twice. */
export async function makeSnitches(
  client: Client,
  { proposals, mentioned }: Discovery,
  tags: readonly string[],
): Promise<Made> {
  const present = await client.listSnitches();
  const found = ownSnitches({ proposals, mentioned }, present);
  const names = new Set(present.map(({ name }) => name));
  const missing = found.filter(({ snitch }) => snitch === null).map(({ proposal }) => proposal);
  const [first] = missing.filter(({ due }) => due.schedule !== null);
  const isNew = !first?.due.schedule || (await knowsSchedules(client, first.due.schedule));
  const wanted = missing.map((proposal) => ({
    proposal,
    input: inputOf(proposal, { tags, isNew, names }),
  }));
  const { takes, refused, remarks } = await tried(client, wanted);
  const made = new Map<Proposal, WireSnitch>();
  for (const batch of batchesOf(takes)) {
    const inputs = batch.map(({ input }) => input);
    const answer = await patiently(() => client.importSnitches(inputs, null));
    for (const [index, { proposal }] of batch.entries()) {
      const snitch = answer[index];
      if (snitch) made.set(proposal, snitch);
    }
  }
  const watched = found.flatMap(({ proposal, snitch }) => {
    const its = snitch ?? made.get(proposal) ?? null;
    return its === null ? [] : [{ proposal, snitch: its }];
  });
  return { watched, made: made.size, refused, remarks: [...remarks, ...lostIn(takes, made, isNew)] };
}

interface Circumstances {
  tags: readonly string[];
  /** Whether the server knows schedules. */
  isNew: boolean;
  /** The names that are taken, including those by snitches of other jobs. */
  names: Set<string>;
}

function inputOf(proposal: Proposal, { tags, isNew, names }: Circumstances): Wanted['input'] {
  const { due, where, schedule, user } = proposal;
  const byInterval = due.interval === null ? {} : { interval: due.interval };
  const name = [proposal.name, ...proposal.otherNames].find((one) => !names.has(one)) ?? proposal.name;
  names.add(name);
  return {
    name,
    ...(isNew && due.schedule !== null ? scheduleIn(due) : byInterval),
    tags: [...tags],
    // Not the command: it may hold a password, and notes are sent with every alert.
    notes: `Found by discover: ${where} (${schedule}${user === null ? '' : `, ${user}`})`,
  };
}

function scheduleIn({ schedule, timezone, grace }: Proposal['due']): SnitchInput {
  return { schedule, ...(timezone === null ? {} : { timezone }), ...(grace === null ? {} : { grace }) };
}

interface Tried extends Pick<Made, 'refused' | 'remarks'> {
  takes: Wanted[];
}

/** Asks the server what it would refuse, since it makes all snitches of a request or none. */
async function tried(client: Client, wanted: readonly Wanted[]): Promise<Tried> {
  const result: Tried = { takes: [], refused: [], remarks: [] };
  const refuse = ({ where, name }: Proposal, reason: string) =>
    void result.refused.push({ where, what: name, reason });
  const whole = wanted.filter(({ proposal, input }) => {
    if (input.schedule || input.interval) return true;
    refuse(proposal, 'the server knows no schedules, and no interval is long enough: update the server');
    return false;
  });
  for (const batch of batchesOf(whole)) {
    const inputs = batch.map(({ input }) => input);
    const { problems } = await patiently(() => client.checkImport({ snitches: inputs }));
    for (const [index, one] of batch.entries()) {
      const faults = problems.filter(({ attribute }) => attribute.startsWith(`snitches[${index}]`));
      const [fault] = faults;
      const reason = fault && `${fault.attribute.replace(/^.*\]\.?/, '')} ${fault.message}`.trim();
      const isOfDue = faults.every(({ attribute }) => /\.(?:schedule|timezone|grace)$/.test(attribute));
      const { interval } = one.proposal.due;
      if (reason === undefined) result.takes.push(one);
      else if (isOfDue && interval !== null) {
        result.takes.push({ ...one, input: withInterval(one.input, interval) });
        result.remarks.push(`${one.input.name} has the interval ${interval}: the server says: ${reason}`);
      } else refuse(one.proposal, `the server refuses it: ${reason}`);
    }
  }
  return result;
}

function withInterval({ name, tags = [], notes = '' }: Wanted['input'], interval: string): Wanted['input'] {
  return { name, tags, notes, interval };
}

/** A server that is too old ignores a schedule, and the user must not believe that it was kept. */
function lostIn(takes: readonly Wanted[], made: ReadonlyMap<Proposal, WireSnitch>, isNew: boolean): string[] {
  const lost = takes.filter(({ proposal, input }) => {
    const wasSent = input.schedule || (!isNew && proposal.due.schedule !== null);
    return wasSent && !made.get(proposal)?.schedule;
  });
  if (lost.length === 0) return [];
  const update = 'once it is updated, `snitch discover --apply --update` adds the schedules';
  return [
    `the server does not know schedules: ${countOf(lost.length, 'snitch has only its', 'snitches have only their')} interval; ${update}`,
  ];
}

/** @returns the findings that were mended, and those whose schedule the server did not keep */
export async function updateSnitches(
  client: Client,
  findings: readonly Finding[],
): Promise<{ updated: number; lost: string[] }> {
  const wanted = findings.flatMap(({ token, difference }) =>
    token !== null && difference?.changes ? [{ token, ...difference.changes }] : [],
  );
  await inBatchesOrOneByOne(
    wanted,
    (changes) => patiently(() => client.updateSnitches(changes)),
    ({ token, ...changes }) => patiently(() => client.updateSnitch(token, changes)),
  );
  if (wanted.length === 0) return { updated: 0, lost: [] };
  const after = new Map((await client.listSnitches()).map((snitch) => [snitch.token, snitch]));
  const lost = wanted.flatMap(({ token, ...changes }) => {
    const snitch = after.get(token);
    return snitch && 'schedule' in changes && changes.schedule && !snitch.schedule ? [snitch.name] : [];
  });
  return { updated: wanted.length - lost.length, lost };
}
