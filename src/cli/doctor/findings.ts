/** What `snitch doctor` has found, and how it is printed. */
import type { WireStatus } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import { Output, type OutputFlags, wrapped } from '../output/output.ts';
import { type Paint, paint, type Style } from '../output/style.ts';

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
/** Columns in which a sentence can be read. */
const LEAST_TEXT = 30;

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
  for (const finding of shown) output.lines(linesOf(finding, output.style));
}

/** Texts are broken between words; on a narrow terminal they stand below what they are about. */
export function linesOf({ check, state, message, remedy }: Finding, style: Style): string[] {
  const { sign, paint: colour } = LOOKS[state];
  const { signs, width } = style;
  const word = paint(style, colour, `${signs.status[sign]} ${state.padEnd(STATE_WIDTH)}`);
  const beside = 2 + STATE_WIDTH + CHECK_WIDTH;
  const isNarrow = width < beside + LEAST_TEXT;
  const indent = ' '.repeat(isNarrow ? 2 : beside);
  const room = width - indent.length;
  const [first = '', ...rest] = wrapped(printable(message), room);
  const help = remedy ? wrapped(printable(remedy), room - 2) : [];
  return [
    ...(isNarrow ? [`${word}${check}`, indent + first] : [`${word}${check.padEnd(CHECK_WIDTH)}${first}`]),
    ...rest.map((line) => indent + line),
    ...help.map((line, index) => `${indent}${index === 0 ? signs.remedy : ' '} ${line}`),
  ];
}
