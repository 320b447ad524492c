/** The list of jobs not to watch, meant for jobs whose lines belong to a package or to systemd. */

import { join } from 'node:path';
import { faultOfReading, LARGEST_SETTINGS, readWholeText } from '../../../system/reading.ts';
import { hintOf, type PassedOver } from './host.ts';

export const IGNORE_LIST = '/etc/snitch/discover-ignore';

export interface IgnoreList {
  /** Whether a line of the list means one of these names: of a job, its file, or its timer. */
  has(names: readonly string[]): boolean;
  /** Why the list could not be read; null if it was, or is not there. */
  fault: PassedOver | null;
}

/** One name a line, in which stars stand for anything; after `#` comes a comment. */
export function readIgnoreList(root: string): IgnoreList {
  let text = '';
  let fault: PassedOver | null = null;
  try {
    text = readWholeText(join(root, IGNORE_LIST), LARGEST_SETTINGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      fault = {
        where: IGNORE_LIST,
        what: 'the file',
        reason: `it cannot be read (${faultOfReading(error)})${hintOf(code)}`,
      };
    }
  }
  const patterns = text
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map(patternOf);
  return { has: (names) => names.some((name) => patterns.some((pattern) => pattern.test(name))), fault };
}

function patternOf(line: string): RegExp {
  const parts = line.split(/\*+/).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`);
}
