/** The command line: finds the command and turns its outcome into the exit code. */
import { Command, CommanderError } from 'commander';
import { didYouMean } from '../text/similar.ts';
import { ENTRIES, type Entry, findEntry } from './catalogue.ts';
import { assertSubcommand } from './command/subcommand.ts';
import { complete } from './complete.ts';
import { checkDatabase } from './daemon/check-database.ts';
import { EXIT } from './failure/exit-codes.ts';
import { reportFailure, UsageError } from './failure/failure.ts';
import { fullHelp, shortHelp } from './help.ts';
import { linePieces, print, printed } from './output/pieces.ts';
import { showVersion } from './version/version.ts';

/**
 * @param argv without the program's own name
 * @returns the exit code
 */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    try {
      return await dispatch(argv);
    } finally {
      await printed();
    }
  } catch (error) {
    // Commander has already reported the problem; help that was requested is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportFailure(error);
  }
}

async function dispatch(typed: readonly string[]): Promise<number> {
  const { server, argv } = withoutServer(typed);
  const [name, ...rest] = argv;
  if (server !== null && (name === undefined || NO_SERVER.includes(name))) {
    throw new UsageError('--server goes with a command that asks a server: snitch --server NAME list');
  }
  switch (name) {
    case undefined:
      process.stderr.write(shortHelp());
      return EXIT.usage;
    case '-h':
    case '--help':
      print([shortHelp()]);
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
      return runCommand(known(name), argv, server);
  }
}

const NO_SERVER = ['-h', '--help', 'help', '-V', '--version', '__check-database', '__complete'];

/** `--server` is the only option allowed before the command, like the contexts of other programs. */
function withoutServer(argv: readonly string[]): { server: string | null; argv: readonly string[] } {
  const [first = '', name] = argv;
  if (first.startsWith('--server=')) return { server: first.slice('--server='.length), argv: argv.slice(1) };
  if (first !== '--server') return { server: null, argv };
  if (name === undefined) throw new UsageError('--server needs the name of a server: `snitch server list`');
  return { server: name, argv: argv.slice(2) };
}

/** Moves it after the command and its subcommands, because it is one of their options. */
function withServer(program: Command, argv: readonly string[], server: string | null): readonly string[] {
  if (server === null) return argv;
  let place: Command = program;
  let depth = 0;
  for (const word of argv) {
    const inner = place.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!inner) break;
    place = inner;
    depth += 1;
  }
  const { _defaultCommandName: usual } = place as Command & { _defaultCommandName?: string | null };
  const inner = place.commands.find((one) => one.name() === usual);
  if (inner) return argv.toSpliced(depth, 0, inner.name(), '--server', server);
  if (!place.options.some(({ long }) => long === '--server')) {
    throw new UsageError(`\`snitch ${argv.slice(0, depth).join(' ')}\` asks no server: leave out --server`);
  }
  return argv.toSpliced(depth, 0, '--server', server);
}

/** For the scripts of `snitch completion`. */
async function answerShell(words: readonly string[]): Promise<number> {
  const programOf = async (name: string) => programWith(known(name), () => undefined);
  const lines = await complete(words, programOf);
  print(linePieces(lines));
  return EXIT.ok;
}

async function help(words: readonly string[]): Promise<number> {
  const [name] = words.filter((word) => !word.startsWith('-'));
  if (name !== undefined && name !== 'help') {
    const path = words.filter((word) => !word.startsWith('-'));
    return runCommand(known(name), [...path, '--help']);
  }
  print([words.includes('--all') ? fullHelp() : shortHelp()]);
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

/** The daemon does not read `cli.yaml`, and `doctor` tells more. */
const SILENT_ON_SETTINGS = ['serve', 'health', 'doctor'];

/** Only to people: cron would send a mail about it after every run of a job. */
async function tellOddSettings(): Promise<void> {
  const { readCli } = await import('./command/settings-files.ts');
  try {
    const { path, oddities } = readCli(process.env);
    for (const words of oddities) process.stderr.write(`snitch: ${path}: ${words}\n`);
  } catch {
    // Whoever needs the file says what is wrong with it.
  }
}

async function runCommand(
  entry: Entry,
  argv: readonly string[],
  server: string | null = null,
): Promise<number> {
  let code: number = EXIT.ok;
  const program = await programWith(entry, (outcome) => {
    code = outcome;
  });
  assertSubcommand(program, argv);
  if (process.stderr.isTTY && !SILENT_ON_SETTINGS.includes(entry.name)) await tellOddSettings();
  await program.parseAsync(withServer(program, argv, server), { from: 'user' });
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
    const takesFile = command.options.some(({ long }) => long === '--file');
    const hint = takesFile ? 'The file is given as `-f FILE`. ' : '';
    command.showHelpAfterError(`${hint}See \`${own}\`.`);
    pointToHelp(command, own);
  }
}
