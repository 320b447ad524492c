/** `snitch import`: brings over the snitches of another service, with their tokens. */
import type { Command } from 'commander';
import type { Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { HOUR, SECOND } from '../../text/durations.ts';
import { printable } from '../../text/printable.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { Failure } from '../failure/failure.ts';
import { carryOutInRounds } from '../file/apply-rounds.ts';
import { patiently } from '../file/apply-steps.ts';
import { batchesOf } from '../file/batches.ts';
import { checkKnowsRuns, namesRuns } from '../file/run-fields.ts';
import { countOf } from '../output/count.ts';
import { scheduleWords } from '../output/next-runs.ts';
import { Output } from '../output/output.ts';
import { paint } from '../output/style.ts';
import { askForSchedules } from '../snitches/due-answer.ts';
import { DEADMANSSNITCH, readDeadMansSnitch } from './deadmanssnitch.ts';
import { HEALTHCHECKS, readHealthchecks } from './healthchecks.ts';
import { type Imported, type Source, type SourceFlags, sourceOf } from './source.ts';

interface ImportFlags extends ClientFlags, SourceFlags {
  yes?: boolean;
}

const NOTES = `
Without --yes this is a dry run that reports what would be created, and what has no equivalent here. Anything imported
earlier is skipped. Tokens are kept, so a job only needs the new address in front of its token.`;

export const register: Register = (program, finish) => {
  const command = program.command('import').description('bring snitches over from another service');
  withExamples(
    command,
    'snitch import deadmanssnitch --from-key-file old.key',
    'snitch import healthchecks --from-url https://hc.example.com --from-key-file hc.key --yes',
  );
  const add = (name: string, what: string, base: string, read: (source: Source) => Promise<Imported[]>) => {
    const one = addSourceOptions(command.command(name), base)
      .description(`bring over ${what}`)
      .action(async (flags: ImportFlags) => finish(await importFrom(read, sourceOf(flags, base), flags)))
      .addHelpText('after', NOTES);
    withExamples(addClientOptions(one), `snitch import ${name} --from-key-file old.key`);
  };
  add(
    'deadmanssnitch',
    "the snitches of Dead Man's Snitch, or of another snitch server",
    DEADMANSSNITCH,
    readDeadMansSnitch,
  );
  add('healthchecks', 'the checks of Healthchecks, hosted or your own', HEALTHCHECKS, readHealthchecks);
};

function addSourceOptions(command: Command, base: string): Command {
  return command
    .option('--from-url <url>', `address of the other service (default: ${base})`)
    .option('--from-key-file <file>', 'file with its API key (or SNITCH_FROM_KEY_FILE, SNITCH_FROM_KEY)')
    .option('-y, --yes', 'make the snitches');
}

interface Sorted {
  create: Imported[];
  /** Snitches that were imported before. */
  present: Imported[];
  /** Existing snitches with the name of one that will be made. */
  sameNamed: Pick<WireSnitch, 'name' | 'token'>[];
  refused: { imported: Imported; reason: string }[];
}

/** @returns the exit code: 1 if something cannot be brought over */
async function importFrom(
  read: (source: Source) => Promise<Imported[]>,
  source: Source,
  flags: ImportFlags,
): Promise<number> {
  const client = connect(flags);
  const output = new Output(flags);
  const all = await read(source);
  let sorted = await sort(client, all);
  if (flags.yes) {
    sorted = await carryOutInRounds(sorted, {
      carryOut: (one) => make(client, one),
      planAgain: () => sort(client, all),
    });
  }
  report(output, sorted);
  const { create, present, refused } = sorted;
  const made = flags.yes ? `${create.length} made` : `${create.length} to make`;
  output.done(`${made}, ${present.length} there already, ${refused.length} that cannot be`);
  if (!flags.yes && create.length > 0) output.done('this was a dry run: use --yes to create them');
  return refused.length > 0 ? EXIT.error : EXIT.ok;
}

/** Two imports of the same at the same moment make none of them twice. */
async function make(client: Client, { create, sameNamed }: Sorted): Promise<void> {
  const known = [...sameNamed];
  for (const batch of batchesOf(create.map(({ input }) => input))) {
    const names = new Set(batch.map(({ name }) => name));
    const tokens = known.filter(({ name }) => names.has(name)).map(({ token }) => token);
    const made = await patiently(() => client.importSnitches(batch, null, tokens));
    known.push(...made);
  }
}

/** @throws Failure if the case has no room for everything that is new */
async function sort(client: Client, all: readonly Imported[]): Promise<Sorted> {
  const there = await client.listSnitches();
  const isThere = thereOf(there, all);
  const sorted: Sorted = { create: [], present: [], sameNamed: [], refused: [] };
  const candidates: Imported[] = [];
  for (const imported of all) {
    if (isThere(imported)) sorted.present.push(imported);
    else if (imported.refusal !== null) sorted.refused.push({ imported, reason: imported.refusal });
    else candidates.push(imported);
  }
  const isDueBy = ({ input: { schedule, grace } }: Imported) => Boolean(schedule) || grace !== undefined;
  if (candidates.some(isDueBy)) await askForSchedules(client, { schedule: { every: HOUR / SECOND } });
  let room: number | null = null;
  for (const batch of batchesOf(candidates)) {
    const checked = await patiently(() => client.checkImport({ snitches: batch.map(({ input }) => input) }));
    room = checked.room;
    for (const [index, { input }] of batch.entries()) {
      const understood = checked.problems.length === 0 ? checked.snitches[index] : undefined;
      if (understood && namesRuns({ ...input })) checkKnowsRuns(understood);
    }
    for (const [index, imported] of batch.entries()) {
      const faults = checked.problems.filter(({ attribute }) => attribute.startsWith(`snitches[${index}].`));
      const reason = faults
        .map(({ attribute, message }) => `${attribute.split('].')[1]}: ${message}`)
        .join('; ');
      if (reason === '') sorted.create.push(imported);
      else sorted.refused.push({ imported, reason });
    }
  }
  if (room !== null && room < sorted.create.length) {
    throw new Failure(
      `the import has ${countOf(sorted.create.length, 'new snitch', 'new snitches')}, and the case has room for ${room}: only the administrator can raise the limit`,
    );
  }
  const names = new Set(sorted.create.map(({ input }) => input.name));
  sorted.sameNamed = there.filter(({ name }) => names.has(name));
  return sorted;
}

/**
 * Whether a snitch was imported before: one with its token exists. If the other service hides the token, one of its
 * name counts that belongs to none of the others, and each such snitch counts only once.
 */
function thereOf(there: readonly WireSnitch[], all: readonly Imported[]): (one: Imported) => boolean {
  const tokens = new Set(there.map(({ token }) => token));
  const wanted = new Set(all.map(({ input }) => input.token));
  const free = new Map<string, number>();
  for (const { name, token } of there) if (!wanted.has(token)) free.set(name, (free.get(name) ?? 0) + 1);
  return ({ input: { name, token } }) => {
    if (token) return tokens.has(token);
    const left = free.get(name) ?? 0;
    free.set(name, left - 1);
    return left > 0;
  };
}

function report(output: Output, { create, present, refused }: Sorted): void {
  if (output.format === 'json') {
    output.json({
      create: create.map(({ input }) => input),
      present: present.map(({ input }) => input),
      refused: refused.map(({ imported, reason }) => ({ ...imported.input, reason })),
      remarks: create.flatMap(({ input, remarks }) =>
        remarks.map((remark) => ({ name: input.name, remark })),
      ),
    });
    return;
  }
  if (output.quiet) return;
  const { style } = output;
  const lines = create.flatMap(({ input, remarks }) => {
    const token = input.token ?? 'a new token';
    const heading = `+ ${input.name} (${scheduleWords(input) || input.interval}, ${token})`;
    return [
      paint(style, 'green', printable(heading)),
      ...remarks.map((remark) => paint(style, 'yellow', `    differs: ${printable(remark)}`)),
    ];
  });
  for (const { input } of present)
    lines.push(printable(`= ${input.name} (${input.token ?? 'by its name'}): is there already`));
  for (const { imported, reason } of refused) {
    lines.push(paint(style, 'red', printable(`! ${imported.input.name}: ${reason}`)));
  }
  output.lines(lines);
}
