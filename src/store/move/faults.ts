/** What ended a move, in words that say what to do. They contain nothing from any row, and no password. */

import { ConnectionFault, codeOf, endsSession } from '../postgres/hosts/faults.ts';
import { NewerSchema } from '../postgres/migrate.ts';
import { CopyFailed } from '../sqlite/copy.ts';
import { DataDirLocked } from '../sqlite/lock.ts';
import { MoveFailed } from './move.ts';

export interface Sides {
  source: string;
  target: string;
}

const NO_SPACE = ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'];

/** Classes of SQLSTATE, and what they mean for a move. */
const SERVER_SAYS: readonly [RegExp, string][] = [
  [/^53100/, 'the disk of PostgreSQL is full: free some space there, and move again'],
  [
    /^53/,
    'PostgreSQL has no more room for this (memory, connections, or its disk): fix that, and move again',
  ],
  [
    /^42501/,
    'its user may not do that: make the user the owner of the database (`createdb --owner=USER NAME`)',
  ],
  [/^55P03/, 'somebody else holds its tables: see who is connected (pg_stat_activity), and move again'],
  [/^(22|23|54)/, 'it does not take a row, which should not be: report this'],
];

export function inWords(error: unknown, { source, target }: Sides): unknown {
  if (error instanceof MoveFailed || error instanceof CopyFailed) return error;
  if (error instanceof DataDirLocked)
    return new MoveFailed(`a ${error.holder}: stop it first. Nothing was moved`, 'running', error);
  if (error instanceof NewerSchema) return new MoveFailed(error.message, 'other', error);
  const rest = `nothing was moved, and ${source} is as it was`;
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (error instanceof ConnectionFault && !isLost(error))
    return new MoveFailed(`${message}: ${rest}`, isDenied(error) ? 'denied' : 'unreachable', error);
  if (endsSession(error))
    return new MoveFailed(
      `the connection to PostgreSQL was lost (${message}): ${rest}; move again`,
      'unreachable',
      error,
    );
  if (NO_SPACE.includes(code))
    return new MoveFailed(
      `there is no room for ${target}: ${rest}. Free some space, and move again`,
      'other',
      error,
    );
  const [, advice] = SERVER_SAYS.find(([pattern]) => pattern.test(code)) ?? [];
  if (advice)
    return new MoveFailed(`PostgreSQL: ${message} (${code}); ${advice}. And ${rest}`, 'other', error);
  if (code !== '')
    return new MoveFailed(`cannot move ${source} to ${target}: ${message}; ${rest}`, 'other', error);
  return error;
}

/** Said of a session that had begun, in contrast to one that was never established. */
function isLost({ message }: Error): boolean {
  return / ended the connection$|was given up$/.test(message);
}

/** Whether the server refuses to let this user in. */
function isDenied(error: ConnectionFault): boolean {
  const { cause } = error;
  return /^28/.test(codeOf(cause)) || /asks for a password/.test(error.message);
}
