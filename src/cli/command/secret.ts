/** Secrets are asked for, or read from a file: on the command line everybody on the host would see them. */
import { everybodyMayRead } from '../../system/access.ts';
import { shellWord } from '../../text/shell-word.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';

/** No secret is longer, so a larger file must be the wrong one. Bytes. */
const LONGEST = 4_096;

/** @param path `-` reads the input @throws UsageError that says what is wrong with the file, but not what is in it */
export function secretIn(path: string): string {
  const { openSync, readSync, closeSync } = process.getBuiltinModule('node:fs');
  const where = path === '-' ? 'the input' : path;
  const bytes = Buffer.alloc(LONGEST + 1);
  let length = 0;
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r');
    try {
      for (let read = -1; read !== 0 && length <= LONGEST; length += read) {
        read = readSync(fd, bytes, length, bytes.length - length, null);
      }
    } finally {
      if (fd !== 0) closeSync(fd);
    }
  } catch (error) {
    throw new UsageError(`cannot read the secret from ${where}: ${(error as NodeJS.ErrnoException).code}`);
  }
  const secret = bytes.toString('utf8', 0, length).trim();
  if (length > LONGEST) throw new UsageError(`${where} is longer than a secret is (${LONGEST} bytes)`);
  if (secret === '') throw new UsageError(`${where} is empty`);
  if (/\p{Cc}/u.test(secret)) throw new UsageError(`${where} must hold one line with the secret`);
  if (path !== '-' && isExposed(path)) {
    say(`every user of this host can read ${path}, which holds a secret: chmod 600 ${shellWord(path)}`);
  }
  return secret;
}

/** What cannot be looked at, such as a pipe, is not open to others. */
function isExposed(path: string): boolean {
  try {
    return everybodyMayRead(path);
  } catch {
    return false;
  }
}

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** @returns what was typed, without showing it @throws Failure where it was given up */
export async function askSecretly(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8').resume();
  try {
    return await typed();
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

function typed(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (settle: () => void) => {
      process.stdin.off('data', take);
      settle();
    };
    const take = (typedNow: string) => {
      for (const key of typedNow) {
        if (key === '\r' || key === '\n') return end(() => resolve(text.trim()));
        if (key === '\u0003' || key === '\u0004')
          return end(() => reject(new Failure('nothing was changed')));
        if (key === '\u007f' || key === '\b') text = [...text].slice(0, -1).join('');
        else if (key >= ' ') text += key;
      }
    };
    process.stdin.on('data', take);
  });
}

/** @returns what was typed; empty at the end of the input */
export async function ask(question: string): Promise<string> {
  const { createInterface } = process.getBuiltinModule('node:readline');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string>((resolve) => {
      reader.once('close', () => resolve(''));
      reader.question(question, (answer) => resolve(answer.trim()));
    });
  } finally {
    reader.close();
  }
}
