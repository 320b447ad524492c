/** A real terminal, held by tmux, with a shell in it. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';

export interface Terminal {
  /** Keys by the names of tmux: `Enter`, `Escape`, `C-u`, `j`. */
  press(...keys: string[]): void;
  /** Types a text, or sends sequences as a terminal does. */
  type(text: string): void;
  screen(): string;
  /** The screen with the sequences of its styles. */
  styledScreen(): string;
  /** Waits until the screen contains all of these. @returns the screen */
  shows(...expected: (string | RegExp)[]): Promise<string>;
  /** Waits until the screen holds none of these. */
  hides(...unexpected: (string | RegExp)[]): Promise<string>;
  resize(columns: number, rows: number): void;
  /** A format of tmux: `#{alternate_on}`. */
  ask(format: string): string;
  /** What was copied to the clipboard. */
  clipboard(): string;
  /** The process id of the program that runs in the shell. */
  programPid(): number;
  close(): void;
}

/** Each terminal gets its own server, because that of the previous one may still be ending. */
let opened = 0;

/** How long to wait for anything to appear on a busy machine, in milliseconds. */
const PATIENCE = 20_000;

export function openTerminal(
  name: string,
  env: Record<string, string>,
  size = { columns: 100, rows: 24 },
): Terminal {
  opened += 1;
  const socket = `snitch-${name}-${process.pid}-${opened}`;
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-u', '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent', LANG: 'C.UTF-8', ...env },
    });
  tmux(
    'new-session',
    '-d',
    '-x',
    String(size.columns),
    '-y',
    String(size.rows),
    'exec bash --norc --noprofile',
  );
  tmux('set', '-g', 'set-clipboard', 'on');
  const screen = () => tmux('capture-pane', '-p');
  const wait = async (holds: (screen: string) => boolean, what: string): Promise<string> => {
    const until = performance.now() + PATIENCE;
    for (;;) {
      const text = screen();
      if (holds(text)) return text;
      if (performance.now() > until) assert.unreachable(`${what}; the screen is:\n${text}`);
      await sleep(50);
    }
  };
  const has = (text: string, pattern: string | RegExp) =>
    typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
  return {
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', '--', text),
    screen,
    styledScreen: () => tmux('capture-pane', '-e', '-p'),
    shows: (...all) => wait((text) => all.every((one) => has(text, one)), `never shown: ${all.join(' | ')}`),
    hides: (...all) => wait((text) => !all.some((one) => has(text, one)), `always shown: ${all.join(' | ')}`),
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    ask: (format) => tmux('display-message', '-p', format).trim(),
    clipboard: () => tmux('show-buffer'),
    programPid: () => {
      const shell = tmux('display-message', '-p', '#{pane_pid}').trim();
      return Number(execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).trim());
    },
    close: () => void tmux('kill-server'),
  };
}
