/**
 * The one way in which commands ask on the terminal. What was typed ahead goes to the next question. Ctrl-C stops the
 * command at any question, and the end of the input (Ctrl-D) counts as no answer.
 */
import { printable } from '../../text/printable.ts';
import { wrapWords } from '../../text/width.ts';
import { Failure } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { printed } from '../output/pieces.ts';

/** 128 and the number of SIGINT, as a shell has it for a command that was interrupted. */
const INTERRUPTED = 130;

/** The user stopped at a question. */
export class Stopped extends Failure {
  override readonly name = 'Stopped';
  constructor() {
    super('stopped: everything done before this question is kept', INTERRUPTED);
  }
}

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** @returns what was typed, without spaces around it; null at the end of the input @throws Stopped */
export async function askLine(question: string): Promise<string | null> {
  await printed();
  const { createInterface } = process.getBuiltinModule('node:readline');
  const { PassThrough } = process.getBuiltinModule('node:stream');
  const { stdin, stderr: output } = process;
  // The reader gets one line and no more: it would show and drop what was typed ahead of the next question.
  const input = Object.assign(new PassThrough(), {
    setRawMode: (raw: boolean) => (stdin.isTTY ? stdin.setRawMode(raw) : stdin),
  });
  const reader = createInterface({ input, output, terminal: true, historySize: 0 });
  const listening = listen((text) => {
    const [line = text] = /^[^\r\n]*(?:\r\n|\r|\n)/.exec(text) ?? [];
    input.write(line);
    return /[\r\n]$/.test(line) ? text.slice(line.length) : null;
  });
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  reader.once('line', (line) => resolve(line.trim()));
  reader.once('SIGINT', () => reject(new Stopped()));
  const over = () => resolve(null);
  reader.once('close', over);
  stdin.once('end', over);
  try {
    reader.setPrompt(question);
    reader.prompt();
    const answer = await promise;
    if (answer === null) output.write('\n');
    return answer;
  } catch (stopped) {
    output.write('\n');
    throw stopped;
  } finally {
    stdin.off('end', over);
    reader.close();
    listening.end();
  }
}

/** @returns what was typed, without showing it; null at the end of the input @throws Stopped */
export async function askSecretly(question: string): Promise<string | null> {
  await printed();
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  try {
    return await typedSecretly();
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}

const KEY = { enter: /[\r\n]/, interrupt: '\u0003', end: '\u0004', clear: '\u0015', back: /[\u007f\b]/ };

/** Arrow keys and the like, which are not part of a secret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are sent as control sequences.
const SEQUENCE = /\u001b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])/g;

async function typedSecretly(): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  let text = '';
  const take = (key: string): boolean => {
    if (KEY.enter.test(key)) resolve(text.trim());
    else if (key === KEY.interrupt) reject(new Stopped());
    else if (key === KEY.end && text === '') resolve(null);
    else {
      if (key === KEY.clear) text = '';
      else if (KEY.back.test(key)) text = [...text].slice(0, -1).join('');
      else if (key >= ' ') text += key;
      return false;
    }
    return true;
  };
  const listening = listen((typed) => {
    const keys = [...typed.replace(SEQUENCE, '')];
    const last = keys.findIndex(take);
    return last < 0 ? null : keys.slice(last + 1).join('');
  });
  const over = () => resolve(null);
  process.stdin.once('end', over);
  try {
    return await promise;
  } finally {
    process.stdin.off('end', over);
    listening.end();
  }
}

/**
 * Listens to the input until `take` returns the rest of it after the answer. Whoever listens next gets that rest first.
 * While nobody listens, input waits in the terminal.
 */
function listen(take: (text: string) => string | null): { end(): void } {
  const { stdin } = process;
  const decoder = new (process.getBuiltinModule('node:string_decoder').StringDecoder)('utf8');
  const hear = (chunk: Buffer) => {
    const rest = take(decoder.write(chunk));
    if (rest === null) return;
    end();
    if (rest !== '') stdin.unshift(Buffer.from(rest));
  };
  const end = () => {
    stdin.off('data', hear);
    stdin.pause();
  };
  stdin.on('data', hear).resume();
  return { end };
}

/** @returns whether the answer was yes; the end of the input counts as no @throws Stopped */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(question)) ?? '');
}

export interface Question {
  /** Without the colon. */
  text: string;
  /** What an empty answer means. */
  otherwise?: string;
  isSecret?: boolean;
  /** What `?` prints. */
  help?: string;
  /** What is wrong with an answer, in a sentence; null if nothing is. */
  problem?: (answer: string) => string | null | Promise<string | null>;
}

/** Asks until the answer is valid. @returns null at the end of the input @throws Stopped */
export async function askUntilRight({
  text,
  otherwise,
  isSecret = false,
  help = 'There is no more help on this.',
  problem = () => null,
}: Question): Promise<string | null> {
  const question = `${text}${otherwise ? ` [${otherwise}]` : ''}: `;
  for (;;) {
    const typed = await (isSecret ? askSecretly(question) : askLine(question));
    if (typed === null) return null;
    const answer = typed === '' ? (otherwise ?? '') : typed;
    const fault = answer === '?' ? help : await problem(answer);
    if (answer !== '?' && fault === null) return answer;
    tell(fault ?? '');
  }
}

/** Says something in lines that fit the terminal, whatever its width. */
export function tell(text: string): void {
  const room = (process.stderr.columns || 80) - 1;
  for (const line of text.split('\n')) {
    const indent = /^ */.exec(line)?.[0] ?? '';
    for (const part of wrapWords(printable(line.trim()), Math.max(10, room - indent.length)))
      say(`${indent}${part}`);
  }
}
