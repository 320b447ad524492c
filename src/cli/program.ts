/** The command line: finds the command and turns its outcome into the exit code. */
import { Command, CommanderError } from 'commander';
import { didYouMean } from '../text/similar.ts';
import { ENTRIES, type Entry, findEntry } from './catalogue.ts';
import { complete } from './complete.ts';
import { checkDatabase } from './daemon/check-database.ts';
import { EXIT } from './failure/exit-codes.ts';
import { reportFailure, UsageError } from './failure/failure.ts';
import { fullHelp, shortHelp } from './help.ts';
import { showVersion } from './version/version.ts';

/**
 * @param argv without the program's own name
 * @returns the exit code
 */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(argv);
  } catch (error) {
    // Commander has said what is wrong; help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportFailure(error);
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  switch (name) {
    case undefined:
      process.stderr.write(shortHelp());
      return EXIT.usage;
    case '-h':
    case '--help':
      process.stdout.write(shortHelp());
      return EXIT.ok;
    case 'help':
      return help(rest);
    case '-V':
    case '--version':
      return showVersion();
    case '__check-database':
      return checkDatabase(rest[0] ?? '');
    case '__complete':
      return answerShell(rest[0] === '--' ? rest.slice(1) : rest);
    default:
      return runCommand(known(name), argv);
  }
}

/** For the scripts of `snitch completion`. */
async function answerShell(words: readonly string[]): Promise<number> {
  const programOf = async (name: string) => programWith(known(name), () => undefined);
  const lines = await complete(words, programOf);
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return EXIT.ok;
}

async function help(words: readonly string[]): Promise<number> {
  const [name] = words.filter((word) => !word.startsWith('-'));
  if (name !== undefined && name !== 'help') {
    const path = words.filter((word) => !word.startsWith('-'));
    return runCommand(known(name), [...path, '--help']);
  }
  process.stdout.write(words.includes('--all') ? fullHelp() : shortHelp());
  return EXIT.ok;
}

/** What other programs call the same thing. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ls: 'list',
  ps: 'list',
  status: 'list',
  get: 'show',
  info: 'show',
  inspect: 'show',
  describe: 'show',
  top: 'dashboard',
  ui: 'dashboard',
  log: 'history',
  logs: 'history',
  why: 'explain',
  add: 'create',
  new: 'create',
  make: 'create',
  rm: 'delete',
  del: 'delete',
  remove: 'delete',
  set: 'edit',
  update: 'edit',
  rename: 'edit',
  mute: 'pause',
  silence: 'pause',
  resume: 'unpause',
  unmute: 'unpause',
  ping: 'check-in',
  checkin: 'check-in',
  run: 'exec',
  wrap: 'exec',
  start: 'serve',
  daemon: 'serve',
  server: 'serve',
  check: 'doctor',
  user: 'member',
  users: 'member',
  keys: 'key',
  webhooks: 'webhook',
  channels: 'channel',
  notify: 'channel',
  tags: 'tag',
};

function known(name: string): Entry {
  const entry = findEntry(name);
  if (entry) return entry;
  if (name.startsWith('-')) {
    throw new UsageError(`unknown option "${name}": options come after a command\nsee \`snitch help\``);
  }
  const names = ENTRIES.map((one) => one.name);
  const here = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  const hint = here ? ` Here it is: snitch ${here}` : didYouMean(name, names);
  throw new UsageError(`unknown command "${name}".${hint}\nsee \`snitch help\``);
}

async function runCommand(entry: Entry, argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = await programWith(entry, (outcome) => {
    code = outcome;
  });
  await program.parseAsync(argv, { from: 'user' });
  return code;
}

/** The program with one command, with the others of its module, and nothing else. */
export async function programWith(entry: Entry, finish: (code: number) => void): Promise<Command> {
  const program = new Command('snitch')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'snitch: ')),
    });
  const { register } = await entry.load();
  register(program, finish);
  pointToHelp(program, 'snitch help');
  return program;
}

/** An error points to the help of the very command that was typed: `key create`, not `key`. */
function pointToHelp(parent: Command, path: string): void {
  for (const command of parent.commands) {
    const own = `${path} ${command.name()}`;
    command.showHelpAfterError(`See \`${own}\`.`);
    pointToHelp(command, own);
  }
}
