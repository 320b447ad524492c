/** Asks the server how it understands a file, before anything is changed. */
import type { Client } from '../../api/client.ts';
import { INTERVALS } from '../../api/intervals.ts';
import type { WireCaseSettings, WireImported, WireSchedule, WireSnitch } from '../../api/wire.ts';
import { didYouMean } from '../../text/similar.ts';
import { Failure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { askForSchedules } from '../snitches/due-answer.ts';
import { type Plan, type Present, planOf, type WantedSnitch } from './apply-plan.ts';
import { inBatches } from './batches.ts';
import { planChannels } from './channel-steps.ts';
import { namesDue } from './due-fields.ts';
import { fileNeeds } from './file-needs.ts';
import { ownerFaults } from './owners.ts';
import { checkKnowsRuns, namesRuns } from './run-fields.ts';
import type { FileEntry } from './snitch-entry.ts';
import { problemAt, type SnitchFile, SnitchFileError } from './snitch-file.ts';

interface Understood {
  snitches: WantedSnitch[];
  case: Partial<WireCaseSettings>;
  room: number | null;
}

/** A server that does not know these fields would ignore them. */
function checkKnown({ schedule, timezone, grace }: WireImported): void {
  if (schedule !== undefined && timezone !== undefined && grace !== undefined) return;
  throw new Failure(
    'nothing was changed: the server does not know schedule, timezone and grace, and must be updated first',
  );
}

/** What the server says about an interval that it does not know. */
const NO_INTERVAL = 'is not a valid interval';

const THE_INTERVALS = `the intervals are: ${INTERVALS.join(', ')}; a schedule says anything else`;

const NEEDS_UNKNOWN = 'nothing was changed: the server does not know needs, and must be updated first';

/** @throws SnitchFileError with every value that the server would refuse */
async function understand(client: Client, file: SnitchFile): Promise<Understood> {
  const understood: Understood = { snitches: [], case: {}, room: null };
  const problems: string[] = [];
  const ask = async (entries: readonly FileEntry[], settings: SnitchFile['settings']) => {
    const checked = await client.checkImport({
      snitches: entries.map(({ input: { needs: _, ...input } }) => input),
      ...(settings ? { case: settings.input } : {}),
    });
    for (const { attribute, message } of checked.problems) {
      const [, index, field = ''] = /^snitches\[(\d+)\]\.(.+)$/s.exec(attribute) ?? [];
      const entry = index === undefined ? settings : entries[Number(index)];
      problems.push(describe(file, entry ?? null, index === undefined ? attribute : field, message));
    }
    for (const [index, snitch] of checked.snitches.entries()) {
      const { owner = null, input = {} } = entries[index] ?? {};
      const says = {
        interval: input.interval !== undefined,
        due: namesDue(input),
        runs: namesRuns(input),
        publicName: input.public_name !== undefined,
      };
      if (says.due && checked.problems.length === 0) checkKnown(snitch);
      if (says.runs && checked.problems.length === 0) checkKnowsRuns(snitch);
      const named = fileNeeds(input.needs);
      if ('refused' in named) {
        problems.push(describe(file, entries[index] ?? null, 'needs', named.refused));
      } else {
        if (named.needs?.length && snitch.needs === undefined) throw new Failure(NEEDS_UNKNOWN);
        understood.snitches.push({ ...snitch, owner, says, needsNamed: named.needs });
      }
    }
    understood.room = checked.room;
    return checked;
  };
  const scheduled = file.entries.find(({ input }) => input.schedule);
  if (scheduled) await askForSchedules(client, { schedule: scheduled.input.schedule as WireSchedule });
  understood.case = (await ask([], file.settings)).case;
  await inBatches(file.entries, (entries) => ask(entries, null));
  const advice = problems.some((problem) => problem.includes(NO_INTERVAL)) ? [THE_INTERVALS] : [];
  if (problems.length > 0) throw new SnitchFileError(problems, advice);
  return understood;
}

function describe(
  file: SnitchFile,
  entry: Pick<FileEntry, 'input' | 'line' | 'lines'> | null,
  attribute: string,
  message: string,
): string {
  const field = attribute.replace(/^case\./, '');
  const name =
    entry && entry !== file.settings && typeof entry.input.name === 'string' ? entry.input.name : '';
  const subject = name === '' || field === 'name' ? attribute : `${name}: ${attribute}`;
  const given =
    message === NO_INTERVAL && typeof entry?.input[field] === 'string' ? entry.input[field] : null;
  const words = given === null ? message : `"${given}" ${message}.${didYouMean(given, INTERVALS)}`;
  return problemAt(file.path, entry?.lines[field] ?? entry?.line ?? 1, `${subject}: ${words}`);
}

export async function presentOf(client: Client): Promise<Present> {
  return {
    case: await client.getCase(),
    snitches: await client.listSnitches(),
    ownership: await client.listOwnership(),
  };
}

/** The same, but only with the snitches that the file concerns: a case may have a million others. */
export async function presentFor(
  client: Client,
  wanted: readonly WantedSnitch[],
  owner: string | null,
): Promise<Present> {
  // A need may be any snitch, and a circle of needs may lead over others.
  if (wanted.some(({ needsNamed }) => needsNamed !== undefined)) return presentOf(client);
  const ownership = await client.listOwnership();
  const kept = ownership.filter((one) => owner !== null && one.owner === owner);
  const tokens = new Set([...kept, ...wanted].map(({ token }) => token));
  const names = new Set(wanted.map(({ name }) => name));
  const keep = ({ token, name }: WireSnitch) => tokens.has(token) || names.has(name);
  return {
    case: await client.getCase(),
    snitches: await client.listSnitches([], undefined, { keep }),
    ownership,
  };
}

export interface Manner {
  /** Whether snitches that are no longer in the file are deleted. */
  prune: boolean;
  /** The owner whose snitches the file takes over; null for none. */
  takeOver: string | null;
}

/**
 * What applying the file would do.
 *
 * @throws SnitchFileError with everything that cannot be done
 */
export async function planFor(client: Client, file: SnitchFile, { prune, takeOver }: Manner): Promise<Plan> {
  const { room, ...wanted } = await understand(client, file);
  const present = await presentFor(client, wanted.snitches, file.owner);
  const plan = planOf(present, { ...wanted, owner: file.owner, takeOver });
  const channels = file.channels && (await planChannels(client, file.path, file.channels, prune));
  plan.channels = channels?.plan ?? null;
  const problems = [
    ...(channels?.problems ?? []),
    ...ownerFaults(present, file, plan, takeOver),
    ...plan.conflicts
      .filter(({ keeper }) => keeper === null)
      .map(({ index, attribute, message }) =>
        describe(file, file.entries[index] ?? null, attribute, message),
      ),
  ];
  if (problems.length > 0) throw new SnitchFileError(problems);
  const freed = prune ? plan.gone.length : 0;
  if (room !== null && plan.create.length > room + freed) {
    throw new Failure(
      `the file has ${countOf(plan.create.length, 'new snitch', 'new snitches')}, and the case has room for ${room + freed}: only the administrator can raise the limit (\`snitch case edit --max-snitches\`)`,
    );
  }
  return plan;
}
