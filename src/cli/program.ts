/** The command line: which commands there are, and what their outcome means for the exit code. */
import { Command, CommanderError, Option } from 'commander';
import { type ConfigFlags, checkConfig, type ShowFlags, showConfig } from './config.ts';
import { EXIT } from './exit-codes.ts';
import { serve } from './serve.ts';
import { showVersion, VERSION } from './version.ts';

/**
 * @param argv without the program's own name
 * @returns the exit code
 */
export async function run(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = createProgram((outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has said what is wrong; help that was asked for is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { message, problems = [message] } = error as Error & { problems?: readonly string[] };
  process.stderr.write(problems.map((problem) => `snitch: ${problem}\n`).join(''));
  return EXIT.error;
}

const CONFIG_OPTION = [
  '--config <file>',
  'configuration file (default: $SNITCH_CONFIG, else /etc/snitch/config.yaml if it exists)',
] as const;

function createProgram(finish: (code: number) => void): Command {
  const program = new Command('snitch')
    .description("A dead man's switch: scheduled jobs check in, and Snitch tells you when one does not.")
    .version(`snitch ${VERSION}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .showHelpAfterError('Try "snitch --help".')
    .addHelpText(
      'before',
      examples('snitch serve', 'snitch serve --config /etc/snitch/config.yaml', 'snitch config check'),
    );
  addServe(program, finish);
  addConfig(program, finish);
  program
    .command('version')
    .description('print the version')
    .action(() => finish(showVersion()));
  return program;
}

function addServe(program: Command, finish: (code: number) => void): void {
  program
    .command('serve')
    .description('run the daemon; without any configuration it listens on 127.0.0.1:7676')
    .option(...CONFIG_OPTION)
    .addHelpText('before', examples('snitch serve', 'SNITCH_LISTEN=0.0.0.0:7676 snitch serve'))
    .addHelpText(
      'after',
      '\nSIGHUP reads the configuration again. SIGTERM stops within 10 seconds.\nExit codes: 0 stopped, 1 error, 2 usage, 75 another daemon has the data directory.',
    )
    .action(async (flags: ConfigFlags) => finish(await serve(flags)));
}

function addConfig(program: Command, finish: (code: number) => void): void {
  const config = program.command('config').description('check or show the configuration');
  config.addHelpText('before', examples('snitch config check --config ./config.yaml', 'snitch config show'));
  config
    .command('check')
    .description('say what is wrong with the configuration, if anything; start nothing')
    .option(...CONFIG_OPTION)
    .addHelpText('before', examples('snitch config check', 'snitch config check --config ./config.yaml'))
    .action(async (flags: ConfigFlags) => finish(await checkConfig(flags)));
  config
    .command('show')
    .description('print what the daemon would run with, passwords masked')
    .option(...CONFIG_OPTION)
    .addOption(new Option('-o, --output <format>', 'format').choices(['yaml', 'json']).default('yaml'))
    .option('--json', 'the same as --output json')
    .addHelpText('before', examples('snitch config show', 'snitch config show --json'))
    .action(async (flags: ShowFlags) => finish(await showConfig(flags)));
}

function examples(...commands: string[]): string {
  return `Examples:\n${commands.map((command) => `  ${command}\n`).join('')}`;
}
