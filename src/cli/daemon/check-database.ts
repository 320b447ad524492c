/** A process that `snitch serve` starts to check a large database while it works: no command for people. */
import type { CheckLine } from '../../store/sqlite/check-file.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { print } from '../output/pieces.ts';

/** @returns the exit code; what was found is on stdout */
export async function checkDatabase(path: string): Promise<number> {
  process.title = 'snitch check-database';
  // The daemon that waits for the answer holds the other end.
  process.stdin.resume().once('end', () => process.exit());
  const { checkFile } = await import('../../store/sqlite/check-file.ts');
  await checkFile(path, (line: CheckLine) => print([`${JSON.stringify(line)}\n`]));
  return EXIT.ok;
}
