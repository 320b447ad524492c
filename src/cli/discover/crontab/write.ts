/** Replaces a crontab, keeping its mode and owner, and a copy of the old one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from '../../../system/directory.ts';
import { createPrivateFileNow, syncNow } from '../../../system/private-file.ts';
import { Failure } from '../../failure/failure.ts';
import { replaceFile } from '../host/replace-file.ts';
import type { Crontab } from './files.ts';

export interface ChangedLine {
  /** From 1. */
  line: number;
  before: string;
  after: string;
}

export interface CrontabChange {
  crontab: Crontab;
  lines: readonly ChangedLine[];
  text: string;
}

export function changeOf(crontab: Crontab, lines: readonly ChangedLine[]): CrontabChange {
  const all = crontab.text.split('\n');
  for (const { line, after } of lines) all[line - 1] = after;
  return { crontab, lines, text: all.join('\n') };
}

/** Cron reads every file in its directories, so copies are kept elsewhere. */
const BACKUPS = 'var/backups/snitch';

/**
 * @param now milliseconds since the epoch, for the name of the copy
 * @returns the path of the copy
 * @throws Failure if somebody else changed the file meanwhile
 */
export function writeCrontab({ crontab, text }: CrontabChange, root: string, now: number): string {
  const { path, shown, encoding } = crontab;
  const copy = backUp(path, shown, root, now);
  replaceFile(path, Buffer.from(text, encoding), () => {
    if (readFileSync(path, encoding) !== crontab.text) {
      throw new Failure(`${shown}: somebody changed it in the meantime, so it was not written`);
    }
  });
  return copy;
}

function backUp(path: string, shown: string, root: string, now: number): string {
  const directory = join(root, BACKUPS);
  makePrivateDirectory(directory);
  const time = new Date(now).toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '');
  const name = `${shown.slice(1).replaceAll('/', '-')}.${time}`;
  for (let attempt = 0; ; attempt += 1) {
    const copy = join(directory, attempt === 0 ? name : `${name}-${attempt}`);
    try {
      createPrivateFileNow(copy, readFileSync(path));
      syncNow(directory);
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 99) throw error;
    }
  }
}
