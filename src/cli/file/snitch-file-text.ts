/** Reads the text of a snitch file or of the standard input, up to a limit. */
import { faultOfReading, readWhole, type Unreadable } from '../../system/reading.ts';
import { Failure } from '../failure/failure.ts';

const MIB = 1024 * 1024;

/** The largest file, and the largest that can only be parsed as a whole: its tree takes fifty times its size. */
const LARGEST_FILE = 64 * MIB;
const LARGEST_WHOLE = 8 * MIB;
const SPLIT = 'split it into several files, each with an `owner:` of its own';

/** @throws Failure if the text can only be parsed as a whole, and is too large for that */
export function checkWhole(path: string, text: string): void {
  if (text.length <= LARGEST_WHOLE) return;
  throw new Failure(
    `${path}: has more than ${LARGEST_WHOLE / MIB} MiB, and its snitches are no list of the form that \`snitch export\` writes: bring it into that form, or ${SPLIT}`,
  );
}

/** @throws Failure if it cannot be read, is not text or is too large */
export function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readWhole(path === '-' ? 0 : path, LARGEST_FILE));
  } catch (error) {
    if ((error as Partial<Unreadable>).isTooLarge) {
      throw new Failure(`${path}: is larger than ${LARGEST_FILE / MIB} MiB: ${SPLIT}`);
    }
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isMissing ? 'it does not exist' : faultOfReading(error);
    const fault = error instanceof TypeError ? 'the file is not UTF-8 text' : `cannot read it: ${reason}`;
    throw new Failure(`${path}: ${fault}`);
  }
}
