/** `snitch serve`, `config` and `version`: the commands that need no server, with their options. */
import { type Command, Option } from 'commander';
import { type Register, withExamples } from '../command/command.ts';
import { showLicenses, showVersion } from '../version/version.ts';
import { type ConfigFlags, checkConfig, type ShowFlags, showConfig } from './config.ts';
import { type HealthFlags, reportHealth } from './health.ts';
import { type ServeFlags, serve } from './serve.ts';

const CONFIG_OPTION = [
  '--config <file>',
  'configuration file (default: $SNITCH_CONFIG, else /etc/snitch/config.yaml if it exists)',
] as const;

export const register: Register = (program, finish) => {
  addServe(program, finish);
  addConfig(program, finish);
  addHealth(program, finish);
  const version = program
    .command('version')
    .description('print the version, or the licences of everything in the program')
    .option('--licenses', 'print the licences, those of Node.js and of every library included')
    .action(async ({ licenses }: { licenses?: true }) =>
      finish(await (licenses ? showLicenses() : showVersion())),
    );
  withExamples(version, 'snitch version', 'snitch version --licenses | less');
};

function addServe(program: Command, finish: (code: number) => void): void {
  const serving = program
    .command('serve')
    .description('run the daemon; without any configuration it listens on 127.0.0.1:7676')
    .option(...CONFIG_OPTION)
    .option('--demo', 'try it out with made-up data, kept apart from real data and gone at the end')
    .addHelpText(
      'after',
      '\nSIGHUP reads the configuration again. SIGTERM stops within 10 seconds.\nExit codes: 0 stopped, 1 error, 2 usage, 75 another daemon has the data directory.',
    )
    .action(async (flags: ServeFlags) => finish(await serve(flags)));
  withExamples(serving, 'snitch serve', 'snitch serve --demo', 'SNITCH_LISTEN=0.0.0.0:7676 snitch serve');
}

function addConfig(program: Command, finish: (code: number) => void): void {
  const config = program.command('config').description('check or show the configuration of the daemon');
  withExamples(config, 'snitch config check --config ./config.yaml', 'snitch config show');
  const check = config
    .command('check')
    .description('say what is wrong with the configuration, if anything; start nothing')
    .option(...CONFIG_OPTION)
    .action(async (flags: ConfigFlags) => finish(await checkConfig(flags)));
  withExamples(check, 'snitch config check', 'snitch config check --config ./config.yaml');
  const show = config
    .command('show')
    .description('print what the daemon would run with, passwords masked')
    .option(...CONFIG_OPTION)
    .addOption(new Option('-o, --output <format>', 'format').choices(['yaml', 'json']).default('yaml'))
    .option('--json', 'the same as --output json')
    .action(async (flags: ShowFlags) => finish(await showConfig(flags)));
  withExamples(show, 'snitch config show', 'snitch config show --json');
}

function addHealth(program: Command, finish: (code: number) => void): void {
  const health = program
    .command('health')
    .description(
      'say whether the daemon is working: accepts check-ins, checks deadlines, sends alerts; needs no key',
    )
    .option('--url <url>', 'address of the server (or SNITCH_URL)')
    .option('--server <name>', 'the server of that name in cli.yaml (or SNITCH_SERVER)')
    .option('--timeout <duration>', 'how long to wait for an answer (default: 5s)')
    .option('-q, --quiet', 'nothing but the exit code')
    .addHelpText('after', '\nExit codes: 0 it is working, 1 it is not, or does not answer.')
    .action(async (flags: HealthFlags) => finish(await reportHealth(flags)));
  withExamples(health, 'snitch health', 'snitch health -q || echo "alerts may be late"');
}
