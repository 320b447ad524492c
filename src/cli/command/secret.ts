/** Secrets in files: on the command line everybody on the host would see them. */
import { everybodyMayRead } from '../../system/access.ts';
import { shellWord } from '../../text/shell-word.ts';
import { UsageError } from '../failure/failure.ts';
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
