/**
 * Commands of the configuration. They get the alert as JSON on standard input, and its important fields in the
 * environment. The API can only name a command: only the configuration says which program it runs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ClaimedDelivery } from '../../core/delivery.ts';
import { CHANNEL_DELETED } from '../../core/explanation/death.ts';
import { printable, shorten } from '../../text/printable.ts';
import { errorText } from '../messages/failure.ts';
import { alertServiceMessage, type LinkOf, wholeText } from '../messages/service-message.ts';
import type { Channel, Pace } from '../outbox/channel.ts';
import { type Outcome, retry } from '../outbox/outcome.ts';

/** Program and arguments, by the name of the command. */
export type Commands = Readonly<Record<string, readonly string[]>>;

export type CommandLimits = Pace;

export const COMMAND_LIMITS: CommandLimits = {
  timeout: 30_000,
  perTarget: 1,
  fast: 4,
  slow: 8,
  slowAfter: 5_000,
};

/** How much of the end of a command's output is kept, in characters. */
const SAID = 2_000;

/** How much of that is shown, where a line break takes two characters. */
const SHOWN = 250;

/** How long the end of a command's output is waited for once it has ended, in milliseconds. */
const LAST_WORDS = 500;

/** All that commands get of the daemon's own environment, which may contain secrets. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'USER', 'LOGNAME'];

export function commandChannel(
  commands: Commands,
  limits: CommandLimits,
  linkOf: LinkOf = () => null,
): Channel {
  return {
    kind: 'command',
    pace: limits,
    off: null,
    grouping: null,
    async sendAlert(claim, { stop }) {
      const name = claim.recipient?.channel?.settings.command;
      if (name === undefined) return { kind: 'dead', error: CHANNEL_DELETED };
      const [program, ...args] = Object.hasOwn(commands, name) ? (commands[name] ?? []) : [];
      // It may be a mistake in the configuration that somebody will fix.
      if (program === undefined) return retry(`the configuration has no command ${name}`);
      return run(program, args, describe(claim, linkOf), { stop, timeout: limits.timeout });
    },
    retire: () => undefined,
    close: () => undefined,
  };
}

interface Described {
  input: string;
  env: Record<string, string>;
}

function describe({ alert, case: shown, recipient }: ClaimedDelivery, linkOf: LinkOf): Described {
  const message = alertServiceMessage(alert, shown, linkOf);
  const { snitch } = alert;
  const key = recipient?.incident.key ?? alert.id;
  const data = {
    type: alert.type,
    timestamp: new Date(alert.at).toISOString(),
    incident: key,
    title: message.title,
    text: wholeText(message),
    link: message.link?.url ?? null,
    case: shown.name,
    snitch,
  };
  const env = {
    SNITCH_ALERT: alert.type,
    SNITCH_INCIDENT: key,
    SNITCH_TITLE: message.title,
    SNITCH_LINK: message.link?.url ?? '',
    SNITCH_CASE: shorten(printable(shown.name), 255),
    SNITCH_NAME: shorten(printable(snitch?.name ?? ''), 255),
    SNITCH_TOKEN: alert.token ?? '',
    SNITCH_STATUS: snitch?.status ?? '',
    SNITCH_TAGS: shorten(printable(snitch?.tags.join(',') ?? ''), 4_000),
  };
  return { input: `${JSON.stringify(data)}\n`, env };
}

function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : [])),
  );
}

/** Runs a program in a process group of its own, so everything it started can be ended with it. */
function run(
  program: string,
  args: readonly string[],
  { input, env }: Described,
  { stop, timeout }: { stop: AbortSignal; timeout: number },
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const child = spawn(program, args, {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...passedOn(), ...env },
    cwd: '/',
  });
  // Without a file left to open, it has no pipes, which its types do not say.
  const { stdin, stderr }: { stdin?: Writable; stderr?: Readable } = child;
  const said = heardFrom(stderr);
  let given: Outcome | null = null;
  const giveUp = (outcome: Outcome) => {
    given ??= outcome;
    killGroup(child);
  };
  const stopped = () => giveUp(retry('given up because the service is stopping'));
  const timer = setTimeout(() => giveUp(retry(`had not ended within ${timeout / 1_000} s`)), timeout);
  stop.addEventListener('abort', stopped, { once: true });
  if (stop.aborted) stopped();
  const over = () => {
    clearTimeout(timer);
    stop.removeEventListener('abort', stopped);
    // Otherwise, processes that it left behind would go on.
    killGroup(child);
  };
  const end = (outcome: Outcome) => {
    stderr?.destroy();
    resolve(given ?? outcome);
  };
  child.once('error', (error: NodeJS.ErrnoException) => {
    over();
    end(retry(`cannot be run: ${error.code ?? error.message}`));
  });
  child.once('exit', async (code, signal) => {
    over();
    // What it wrote last may still be in the pipe.
    if (code !== 0 && stderr) await ended(stderr, LAST_WORDS);
    end(meaningOf(code, signal, said()));
  });
  // A command does not have to read its input.
  stdin?.on('error', () => undefined).end(input);
  return promise;
}

/** @returns the end of what has been said so far */
function heardFrom(stream: Readable | undefined): () => string {
  let said = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-SAID);
  });
  return () => said;
}

/** Ends with the stream, or after a while: a process in a session of its own may hold it open for ever. */
async function ended(stream: Readable, most: number): Promise<void> {
  await finished(stream, { signal: AbortSignal.timeout(most) }).catch(() => undefined);
}

function meaningOf(code: number | null, signal: NodeJS.Signals | null, said: string): Outcome {
  if (code === 0) return { kind: 'delivered' };
  const words = said.trim() === '' ? '' : `: ${endOf(printable(said.trim()))}`;
  return retry(errorText(`${code === null ? `ended by ${signal}` : `exit status ${code}`}${words}`));
}

/** From the beginning of a line, if one is near. */
function endOf(text: string): string {
  return text.length <= SHOWN ? text : `…${text.slice(-SHOWN).replace(/^.{0,80}?\\n/, '')}`;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}
