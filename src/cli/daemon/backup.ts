/** `snitch backup`: a copy of the database, made on the host of the daemon while it works. */
import type { Command } from 'commander';
import type { Content } from '../../store/sqlite/copy.ts';
import { type Register, withCrontab, withExamples } from '../command/command.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { say } from '../output/output.ts';
import type { ConfigFlags } from './config.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface BackupFlags extends ConfigFlags {
  dataDir?: string;
  force?: boolean;
  quiet?: boolean;
}

export const register: Register = (program) => {
  const backup = program
    .command('backup')
    .description('copy the database, consistent and verified, while the daemon keeps running')
    .argument('<file>', 'the file to write, readable by its owner alone')
    .option('-f, --force', 'replace the file if it is there')
    .action((file: string, flags: BackupFlags) => backUp(file, flags));
  withExamples(
    addPlace(backup),
    'snitch backup /var/backups/snitch.db',
    'snitch backup -q "/var/backups/snitch-$(date +%F).db"',
  );
  withCrontab(backup, (snitch) => [`0 4 * * * ${snitch} backup -q /srv/snitch-$(date +\\%F).db`]);
};

export function addPlace(command: Command): Command {
  return command
    .option('--data-dir <directory>', 'data directory of the daemon (default: as the configuration says)')
    .option('--config <file>', 'configuration file of the daemon')
    .option('-q, --quiet', 'print no message');
}

/** @throws Failure if the data is not in the directory, but in PostgreSQL, whose own tools copy it */
export async function dataDirOf({ dataDir, config: file }: BackupFlags): Promise<string> {
  if (dataDir !== undefined) return process.getBuiltinModule('node:path').resolve(dataDir);
  const { loadConfig } = await import('../../config/config.ts');
  const config = await loadConfig({ file, env: process.env });
  if (config.store === null) return config.dataDir;
  throw new Failure(
    `the data is in PostgreSQL (${config.store.shown}): back it up with \`pg_dump --format=custom\`, and restore it into an empty database with \`pg_restore\` while no node runs`,
  );
}

async function backUp(file: string, flags: BackupFlags): Promise<void> {
  // The copy is verified in its file, which is impossible with a pipe.
  if (file === '-')
    throw new UsageError(
      'a copy cannot be written to the standard output: name a file, and read that (./- is one)',
    );
  const { statSync } = process.getBuiltinModule('node:fs');
  const present = statSync(file, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw new Failure(`${file} is a directory: name a file in it`);
  // The copy would replace a device such as /dev/null for everybody.
  if (present && !present.isFile())
    throw new Failure(`${file} is not a file that can be replaced: name another`);
  const dataDir = await dataDirOf(flags);
  // This is checked first, because --force must never be suggested for the database itself.
  const { linkedFrom, refusalOfTarget } = await import('../../store/sqlite/copy-target.ts');
  const refusal = refusalOfTarget(dataDir, file);
  if (refusal) throw new Failure(refusal);
  if (present && !flags.force) throw new Failure(`${file} exists already: use --force to replace it`);
  const linked = linkedFrom(file);
  const { snitches, cases } = await copyUntilStopped(dataDir, file);
  // Even with --quiet, and only once: whoever made the link expects the copy where it led.
  if (linked !== null)
    say(
      `warning: ${file} was a link to ${linked}. The copy is in its place, and none is in ${linked}: name that file to have it there`,
    );
  if (!flags.quiet)
    say(
      `${file}: verified, with ${countOf(snitches, 'snitch', 'snitches')} in ${countOf(cases, 'case', 'cases')}`,
    );
}

/**
 * A copy that is stopped is removed. Backups often have the date in their names: no later one would replace the half of
 * a copy that a shutdown or Ctrl-C had left, and it would fill the disk.
 *
 * @throws Failure with the exit code that a shell has for the signal
 */
async function copyUntilStopped(dataDir: string, file: string): Promise<Content> {
  const { CopyStopped, takeBackup } = await import('../../store/sqlite/copy.ts');
  let exitCode = 0;
  const stop = (_: NodeJS.Signals, number: number) => {
    exitCode = 128 + number;
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await takeBackup(dataDir, file, () => {
      if (exitCode > 0) throw new CopyStopped();
    });
  } catch (error) {
    if (!(error instanceof CopyStopped)) throw error;
    throw new Failure(`stopped: ${file} was not written; what was copied is removed`, exitCode);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}
