/** Reads the definitions of the commands, whose words the manual uses. */
import type { Argument, Command } from 'commander';
import { ENTRIES, type Entry } from '../src/cli/catalogue.ts';
import { programWith } from '../src/cli/program.ts';

/** A command or subcommand. */
export interface Definition {
  /** The whole name, such as `snitch key list`. */
  name: string;
  description: string;
  parameters: readonly Parameter[];
  options: readonly OptionText[];
  /** Each is a command line, perhaps with a gap and a remark after it. */
  examples: readonly string[];
  /** What the help adds at its end. Paragraphs are separated by empty lines. */
  notes: string;
}

export interface Parameter {
  name: string;
  required: boolean;
  variadic: boolean;
  description: string;
}

export interface OptionText {
  flags: string;
  description: string;
  /** The heading under which other commands have the same option; null if it belongs to this command alone. */
  group: string | null;
}

/** Every command of the catalogue with its subcommands, by its name in the catalogue. */
export async function readDefinitions(): Promise<ReadonlyMap<string, readonly Definition[]>> {
  return new Map(
    await Promise.all(ENTRIES.map(async (one) => [one.name, await definitionsOf(one)] as const)),
  );
}

async function definitionsOf(one: Entry): Promise<Definition[]> {
  const program = await programWith(one, () => undefined);
  const command = program.commands.find((found) => found.name() === one.name);
  if (!command) throw new Error(`the program has no command ${one.name}`);
  return [...define(command, 'snitch')];
}

function* define(command: Command, parent: string): Generator<Definition> {
  const name = `${parent} ${command.name()}`;
  const help = command.createHelp();
  const [examples, notes] = aroundHelp(command);
  yield {
    name,
    description: command.description(),
    parameters: command.registeredArguments.map((argument) => ({
      ...nameOf(argument),
      description: help.argumentDescription(argument),
    })),
    options: help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => ({
        flags: option.flags,
        description: help.optionDescription(option),
        group: option.helpGroupHeading?.replace(/:$/, '') ?? null,
      })),
    examples: examplesIn(examples),
    notes,
  };
  for (const child of command.commands) yield* define(child, name);
}

function nameOf(argument: Argument): Omit<Parameter, 'description'> {
  return { name: argument.name(), required: argument.required, variadic: argument.variadic };
}

/** What the command adds to its help before and after the part that is made from its definition. */
function aroundHelp(command: Command): [before: string, after: string] {
  let whole = '';
  command.configureOutput({
    writeOut: (text) => {
      whole += text;
    },
  });
  command.outputHelp();
  const [before = '', after, ...others] = whole.split(command.helpInformation());
  if (after === undefined || others.length > 0) throw new Error(`the help of ${command.name()} has changed`);
  return [before.trim(), after.trim()];
}

function examplesIn(before: string): string[] {
  const [title, ...lines] = before.split('\n');
  if (title !== 'Examples:') throw new Error(`examples were expected, not "${title}"`);
  return lines.map((text) => text.trim());
}
