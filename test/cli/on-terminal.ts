/** A command on a terminal of a certain width: `script` makes the terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../compile-cache.ts';

const SNITCH = fileURLToPath(new URL('../../bin/snitch', import.meta.url));

export interface TerminalOptions {
  columns?: number;
  /** Typed by the user. */
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with the screen whenever it changes; returns true to end the command. If absent, it ends on its own. */
  seen?: (screen: string) => boolean;
}

/** What appeared on the screen, with its control sequences, and the exit code. */
export async function onTerminal(
  args: readonly string[],
  { columns = 80, input = '', env = {}, seen }: TerminalOptions,
): Promise<{ screen: string; code: number | null }> {
  const words = [SNITCH, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const command = `stty cols ${columns} rows 24; exec ${words.join(' ')}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      ...compileCache(),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (seen?.(screen)) child.kill('SIGTERM');
    if (input !== '' && screen.includes('? [y/N]')) child.stdin.end(input);
  });
  const closed = once(child, 'close');
  const [code] = (await closed) as [number | null];
  return { screen: screen.replaceAll('\r\n', '\n'), code };
}

/** Without colours. */
export function plain(screen: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
  return screen.replace(/\u001b\[\d+m/g, '');
}
