/** Every command line of `snitch` in the documents is one that the program understands. */
import { type Command, CommanderError } from 'commander';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ENTRIES, findEntry } from '../../src/cli/catalogue.ts';
import { programWith } from '../../src/cli/program.ts';
import { pages } from './pages.ts';
import { callsIn } from './shell-words.ts';

const test = suite('command lines in the documents');

/** The languages of blocks with commands; '' marks those that a test cannot run. */
const WITH_COMMANDS = ['sh', 'crontab', ''];

interface Shown {
  where: string;
  words: readonly string[];
  /** Code within a sentence, where the name of a command alone is enough. */
  inSentence: boolean;
}

function shown(): Shown[] {
  return pages().flatMap(({ path, blocks, inline }) => {
    const inBlocks = blocks
      .filter(({ language }) => WITH_COMMANDS.includes(language))
      .flatMap(({ text }) => text.split('\n'));
    const inSentences = inline.filter((code) => /(?:^|[\s/])snitch /.test(code));
    return [
      ...inBlocks.flatMap((line) => callsOfSnitch(path, line, false)),
      ...inSentences.flatMap((code) => callsOfSnitch(path, code, true)),
    ];
  });
}

function callsOfSnitch(path: string, line: string, inSentence: boolean): Shown[] {
  return callsIn(line)
    .filter(([program = '']) => /^(?:\S*\/)?snitch$/.test(program))
    .map(([, ...words]) => ({ where: `${path}: ${line}`, words, inSentence }));
}

/** The program with only this command, which does nothing when called. */
async function programFor(name: string): Promise<Command> {
  const entry = findEntry(name);
  if (!entry) throw new Error(`there is no command ${name}`);
  const program = await programWith(entry, () => undefined);
  disarm(program);
  return program;
}

function disarm(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  for (const child of command.commands) {
    if (child.commands.length === 0) child.action(() => undefined);
    disarm(child);
  }
}

/** Why the program would not understand the words, or null. */
async function misunderstood(given: readonly string[], inSentence = false): Promise<string | null> {
  // The only option that is allowed before the command.
  const words = given[0] === '--server' ? [...given.slice(2), ...given.slice(0, 2)] : given;
  if (words[0] === 'help') return unknownHelp(words.slice(1));
  try {
    const program = await programFor(words[0] ?? '');
    await program.parseAsync(words, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && inSentence && isNameAlone(error, words)) return null;
    return (error as Error).message;
  }
}

/** Without arguments, a group prints its help, and other commands complain. */
function isNameAlone({ code }: CommanderError, words: readonly string[]): boolean {
  const lacks = ['commander.help', 'commander.missingArgument', 'commander.missingMandatoryOptionValue'];
  return lacks.includes(code) && words.every((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-'));
}

async function unknownHelp(path: readonly string[]): Promise<string | null> {
  const [name, child] = path.filter((word) => word !== 'COMMAND' && word !== '--all');
  if (name === undefined) return null;
  const command = (await programFor(name)).commands.find((one) => one.name() === name);
  if (child === undefined || command?.commands.some((one) => one.name() === child)) return null;
  return `${name} has no command ${child}`;
}

test('each has an existing command and options', async () => {
  const lines = shown();
  assert.ok(lines.length > 100);
  const wrong: string[] = [];
  for (const { where, words, inSentence } of lines) {
    const reason = await misunderstood(words, inSentence);
    if (reason !== null) wrong.push(`${where}: ${reason}`);
  }
  assert.equal(wrong, []);
});

test('the check finds lines that are not understood', async () => {
  for (const line of [
    'snitch list --stat failed',
    'sudo snitch lst',
    'x && snitch pause',
    'snitch help spool clear',
  ]) {
    const [call = []] = callsIn(line).filter(([program]) => program === 'snitch');
    assert.ok(await misunderstood(call.slice(1)), line);
  }
});

test('every option in the text belongs to a command', async () => {
  const options = new Set<string>(['--retry']);
  const collect = (command: Command) => {
    for (const { long } of command.options) if (long) options.add(long);
    for (const child of command.commands) collect(child);
  };
  for (const { name } of ENTRIES) collect(await programFor(name));
  const named = pages()
    .filter((page) => page.path !== 'CONTRIBUTING.md')
    .flatMap(({ inline }) => inline.flatMap((code) => /^--[a-z][a-z-]*/.exec(code)?.[0] ?? []));
  assert.ok(named.length > 10);
  assert.equal(
    named.filter((option) => !options.has(option)),
    [],
  );
});

test.run();
