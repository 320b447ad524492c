/** What `snitch doctor` has found, and how it is printed. */
import type { WireStatus } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import { Output, type OutputFlags } from '../output/output.ts';
import { type Paint, paint } from '../output/style.ts';

export interface Finding {
  /** What was checked, in a word or two. */
  check: string;
  state: 'ok' | 'warning' | 'failure';
  message: string;
  /** What to do about it. */
  remedy?: string;
}

/** The signs of the statuses that mean the same. */
const LOOKS: Record<Finding['state'], { sign: WireStatus; paint: Paint }> = {
  ok: { sign: 'healthy', paint: 'green' },
  warning: { sign: 'errored', paint: 'yellow' },
  failure: { sign: 'failed', paint: 'red' },
};

const STATE_WIDTH = 9;
const CHECK_WIDTH = 15;

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy };
}

export function failure(check: string, message: string, remedy: string): Finding {
  return { check, state: 'failure', message, remedy };
}

/** Prints a line for each finding, and one more with its remedy. */
export function printFindings(findings: readonly Finding[], flags: OutputFlags): void {
  const output = new Output(flags);
  if (output.format === 'json') {
    output.json(findings);
    return;
  }
  const shown = output.quiet ? findings.filter(({ state }) => state !== 'ok') : findings;
  for (const { check, state, message, remedy } of shown) {
    const { sign, paint: colour } = LOOKS[state];
    const { signs } = output.style;
    const word = paint(output.style, colour, `${signs.status[sign]} ${state.padEnd(STATE_WIDTH)}`);
    output.lines([`${word}${check.padEnd(CHECK_WIDTH)}${printable(message)}`]);
    if (remedy)
      output.lines([`${' '.repeat(2 + STATE_WIDTH + CHECK_WIDTH)}${signs.remedy} ${printable(remedy)}`]);
  }
}
