/** `snitch move`: from the SQLite file of a daemon to PostgreSQL, and back. No daemon runs meanwhile. */
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import type { Moved, MoveFailed, Progress } from '../../store/move/move.ts';
import { isoTime } from '../../text/iso-time.ts';
import { type Register, withExamples } from '../command/command.ts';
import { secretIn } from '../command/secret.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { Failure, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { say } from '../output/output.ts';
import { VERSION } from '../version/version.ts';
import { addPlace, type BackupFlags } from './backup.ts';
import { progressOn } from './move-progress.ts';

interface MoveFlags extends BackupFlags {
  to: string;
  passwordFile?: string;
}

const NOTES = `
The source is what the configuration of the daemon says; --data-dir names a SQLite database instead. Stop the daemon
first, or all daemons if the data is in PostgreSQL. The target must be empty: a database that \`createdb\` made, or a file
that does not exist yet. Everything is copied, read back and compared before any of it counts, and the source does not
change. To start an interrupted move over, give the same command again.

Exit codes: 0 moved, 1 error, 2 usage, 4 PostgreSQL refuses the user, 5 it cannot be reached, 75 a daemon still runs.`;

export const register: Register = (program) => {
  const move = program
    .command('move')
    .description('copy all data from SQLite to PostgreSQL, or back, while no daemon runs')
    .requiredOption(
      '--to <place>',
      'postgres://USER@HOST/DATABASE with the options that store.url has, or sqlite:FILE',
    )
    .option(
      '--password-file <file>',
      'file with the password for the PostgreSQL of --to; - reads it from the input',
    )
    .action((flags: MoveFlags) => move_(flags));
  withExamples(
    addPlace(move).addHelpText('after', NOTES),
    'sudo systemctl stop snitch.socket snitch',
    'sudo snitch move --to postgres://snitch@db1,db2/snitch --password-file /etc/snitch/store.password',
    'snitch move --to sqlite:/var/backups/snitch.db',
  );
};

async function move_(flags: MoveFlags): Promise<void> {
  // The value of --to can hold a password, and everybody sees the arguments of a process.
  process.title = 'snitch move';
  const target = await targetOf(flags);
  const source = await sourceOf(flags);
  try {
    if (target.kind === 'postgres' && source.kind === 'sqlite')
      return await toPostgres(source, target, flags);
    if (target.kind === 'sqlite' && source.kind === 'postgres') return await toSqlite(source, target, flags);
  } catch (error) {
    throw asFailure(error, target.kind === 'postgres');
  }
  throw new Failure(
    source.kind === 'sqlite'
      ? `the data is in SQLite already, in ${source.dataDir}: use \`snitch backup FILE\` to copy it`
      : `the data is in PostgreSQL already (${source.shown}): use \`pg_dump\` and \`pg_restore\` to copy it to another one, or --data-dir to name a SQLite database`,
  );
}

interface OnPostgres {
  kind: 'postgres';
  address: PostgresAddress;
  /** Without the password. */
  shown: string;
}

async function targetOf({
  to,
  passwordFile,
}: MoveFlags): Promise<OnPostgres | { kind: 'sqlite'; file: string }> {
  if (to.startsWith('sqlite:')) {
    const file = to.slice('sqlite:'.length);
    if (file === '' || file.startsWith('//') || file.endsWith('/'))
      throw new UsageError(
        '--to sqlite:FILE needs the name of a file, such as sqlite:/var/backups/snitch.db',
      );
    if (passwordFile !== undefined) throw new UsageError('--password-file is for a target in PostgreSQL');
    return { kind: 'sqlite', file: process.getBuiltinModule('node:path').resolve(file) };
  }
  const { maskPostgresUrl, parsePostgresUrl } = await import('../../core/database/postgres-url.ts');
  let address: PostgresAddress;
  try {
    address = parsePostgresUrl(to);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new UsageError(
      /must begin with/.test(why) ? '--to must be postgres://… or sqlite:FILE' : `--to ${why}`,
    );
  }
  if (passwordFile === undefined) {
    if (address.password !== null)
      say('others on this host may have seen the password in --to: --password-file keeps it out of sight');
    const { withServicePassword } = await import('../../config/store-place.ts');
    return { kind: 'postgres', address: withServicePassword(address), shown: maskPostgresUrl(address) };
  }
  if (address.password !== null)
    throw new UsageError('--to has a password, and so has --password-file: remove one of them');
  return {
    kind: 'postgres',
    address: { ...address, password: secretIn(passwordFile) },
    shown: maskPostgresUrl(address),
  };
}

interface InDirectory {
  kind: 'sqlite';
  dataDir: string;
}

async function sourceOf({
  dataDir,
  config: file,
}: MoveFlags): Promise<InDirectory | (OnPostgres & { dataDir: string })> {
  if (dataDir !== undefined)
    return { kind: 'sqlite', dataDir: process.getBuiltinModule('node:path').resolve(dataDir) };
  const { loadConfig } = await import('../../config/config.ts');
  const config = await loadConfig({ file, env: process.env });
  if (config.store === null) return { kind: 'sqlite', dataDir: config.dataDir };
  const { withServicePassword } = await import('../../config/store-place.ts');
  const { address, shown } = config.store;
  return { kind: 'postgres', address: withServicePassword(address), shown, dataDir: config.dataDir };
}

async function toPostgres({ dataDir }: InDirectory, target: OnPostgres, flags: MoveFlags): Promise<void> {
  const { moveToPostgres } = await import('../../store/move/to-postgres.ts');
  const { address, shown } = target;
  const options = { dataDir, address, shown, version: VERSION };
  const moved = await watched(flags, (onProgress) => moveToPostgres({ ...options, onProgress }));
  if (flags.quiet) return;
  tell(moved, shown, `${dataDir}/snitch.db`);
  say(
    'next, on each host: store.url in the configuration (SNITCH_STORE_URL), the password in store.password_file, and `snitch serve`',
  );
  say(
    `all keys, addresses and secrets keep working. Each host needs the same configuration with the secret files that it names; ${dataDir}/credentials.yaml stays where it is, and commands on another host need a copy or a key of their own`,
  );
  say(
    `do not start a daemon without store.url again: it would use the old ${dataDir}/snitch.db and raise alarms for jobs that now report to PostgreSQL. Keep that file until you trust the new place, then delete it`,
  );
}

async function toSqlite(
  source: OnPostgres & { dataDir: string },
  { file }: { file: string },
  flags: MoveFlags,
): Promise<void> {
  const { moveToSqlite } = await import('../../store/move/to-sqlite.ts');
  const { address, shown, dataDir } = source;
  const moved = await watched(flags, (onProgress) =>
    moveToSqlite({ address, shown, dataDir, file, onProgress }),
  );
  if (flags.quiet) return;
  tell(moved, file, shown);
  say(
    `next: take store.url out of the configuration (SNITCH_STORE_URL), put the file in place with \`snitch restore ${file}\`, and start one \`snitch serve\``,
  );
  say(
    'all keys, addresses and secrets keep working; the secret files that the configuration names are needed as before',
  );
  say(
    `do not start a daemon on ${shown} again: it would use the old data and raise alarms for jobs that now report to the new place. Keep it until you trust the new one, then drop it`,
  );
}

function tell(moved: Moved, target: string, source: string): void {
  const { snitches, cases, checkIns, tables, rows, withNul, aliveAt } = moved;
  const what = [
    countOf(snitches, 'snitch', 'snitches'),
    countOf(cases, 'case', 'cases'),
    countOf(checkIns, 'check-in', 'check-ins'),
  ].join(', ');
  say(`${target}: moved and verified, with ${what}; ${countOf(rows, 'row', 'rows')} in ${tables} tables`);
  say(`${source} is as it was`);
  if (withNul > 0)
    say(
      `${countOf(withNul, 'text', 'texts')} had a NUL character, which PostgreSQL does not keep: it became U+FFFD`,
    );
  if (aliveAt !== null)
    say(
      `the time from ${isoTime(aliveAt)} to the next start becomes a blind window: no job is accused for it`,
    );
}

/** Shows how far it is, and undoes what was begun when the user ends it. */
async function watched<T>(
  { quiet = false }: MoveFlags,
  work: (onProgress: (progress: Progress) => void) => Promise<T>,
): Promise<T> {
  const progress = progressOn(quiet ? null : process.stderr);
  let isStopped = false;
  const stop = () => {
    if (isStopped) process.exit(EXIT.error);
    isStopped = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  try {
    return await work((now) => {
      if (isStopped) throw new Failure('stopped: nothing was moved, and the source is as it was');
      progress.show(now);
    });
  } finally {
    progress.clear();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
  }
}

const CODES: Record<MoveFailed['obstacle'], number> = {
  running: EXIT.locked,
  unreachable: EXIT.unreachable,
  denied: EXIT.authentication,
  other: EXIT.error,
};

/** Recognised by name, because a bundle that is loaded later has its own copy of the class. */
function asFailure(error: unknown, isToPostgres: boolean): unknown {
  if (!(error instanceof Error) || error.name !== 'MoveFailed') return error;
  // No configuration names a target yet.
  const message = isToPostgres
    ? error.message.replaceAll('store.password_file', '--password-file').replaceAll('store.url', '--to')
    : error.message;
  return new Failure(message, CODES[(error as MoveFailed).obstacle]);
}
