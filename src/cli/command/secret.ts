/** Secrets in files: on the command line everybody on the host would see them. */
import { isExposed } from '../../system/access.ts';
import { faultOfReading, readWholeText, type Unreadable } from '../../system/reading.ts';
import { shellWord } from '../../text/shell-word.ts';
import { UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';

/** No secret is longer, so a larger file must be the wrong one. Bytes. */
const LONGEST = 4_096;

/** @param path `-` reads the input @throws UsageError that says what is wrong with the file, but not what is in it */
export function secretIn(path: string): string {
  const where = path === '-' ? 'the input' : path;
  const secret = textOf(path, where).trim();
  if (secret === '') throw new UsageError(`${where} is empty`);
  if (/\p{Cc}/u.test(secret)) throw new UsageError(`${where} must hold one line with the secret`);
  if (path !== '-' && isExposed(path)) {
    say(`every user of this host can read ${path}, which holds a secret: chmod 600 ${shellWord(path)}`);
  }
  return secret;
}

function textOf(path: string, where: string): string {
  try {
    return readWholeText(path === '-' ? 0 : path, LONGEST);
  } catch (error) {
    if ((error as Partial<Unreadable>).isTooLarge) {
      throw new UsageError(`${where} is too long for a secret (maximum ${LONGEST} bytes)`);
    }
    throw new UsageError(`cannot read the secret from ${where}: ${faultOfReading(error)}`);
  }
}
