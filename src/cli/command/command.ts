/** What commands have in common: how they register, their options for server and format, and examples in the help. */
import { type Command, Option } from 'commander';
import { UsageError } from '../failure/failure.ts';
import { FORMATS, type OutputFlags } from '../output/output.ts';
import type { ConnectionFlags } from './connection.ts';
import { programForCron } from './own-program.ts';

/** Each module of commands exports one as `register`. `finish` takes the exit code. */
export type Register = (program: Command, finish: (code: number) => void) => void;

export type ClientFlags = ConnectionFlags & OutputFlags;

const CONNECTION = 'Server:';
const OUTPUT = 'Output:';

export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'address of the server (or SNITCH_URL)').helpGroup(CONNECTION))
    .addOption(
      new Option('--server <name>', 'the server of that name in cli.yaml (or SNITCH_SERVER)').helpGroup(
        CONNECTION,
      ),
    )
    .addOption(
      new Option('--api-key-file <file>', 'file with the API key (or SNITCH_API_KEY_FILE)').helpGroup(
        CONNECTION,
      ),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for an answer (default: 30s)').helpGroup(
        CONNECTION,
      ),
    );
}

export function addOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table').helpGroup(OUTPUT),
    )
    .addOption(new Option('--json', 'the same as --output json').helpGroup(OUTPUT))
    .addOption(new Option('-q, --quiet', 'only identifiers, and no messages').helpGroup(OUTPUT));
}

export function addClientOptions(command: Command): Command {
  return addConnectionOptions(addOutputOptions(command));
}

/** Puts examples at the beginning of the help, because they are what people come for. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('before', `Examples:\n${examples.map((line) => `  ${line}\n`).join('')}`);
}

/**
 * Adds lines to the help that can be pasted into a crontab as they are: cron has another `PATH`, knows no comments
 * after a command, and treats a percent sign as the end of the command.
 *
 * @param lines gets the name or path by which cron finds this program
 */
export function withCrontab(command: Command, lines: (program: string) => readonly string[]): Command {
  const text = () =>
    `\nIn a crontab:\n${lines(programForCron())
      .map((line) => `  ${line}`)
      .join('\n')}`;
  return command.addHelpText('after', text);
}

/**
 * The value of an option that must be given. Commander checks this before it looks for unknown options, so that it
 * would answer `--intervall daily` with a missing `--interval`.
 */
export function required(value: string | undefined, option: string): string {
  if (value === undefined) throw new UsageError(`${option} is missing`);
  return value;
}

/** For options that can be given several times. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** The same if the default is no list, such as null for an option that was not given. */
export function collectAnew(value: string, earlier: unknown): string[] {
  return collect(value, Array.isArray(earlier) ? earlier : []);
}
