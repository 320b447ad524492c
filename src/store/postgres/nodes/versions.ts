/**
 * Which versions of the program can work on the database. Each session of a node holds a lock, for its whole life, on
 * the schema version that its program knows. A migration that would break such a program needs that lock exclusively,
 * so it runs only when no session of one is left; a program that comes back later is refused when it connects. So a
 * node that was stopped or cut off meanwhile cannot write with its old idea of the schema, and no transaction has to
 * ask.
 */
import type pg from 'pg';
import { ConnectionFault } from '../hosts/faults.ts';

/** Why a program of this version cannot work on the database, in words that anybody may see. */
export class NotAdmitted extends Error {}

class UpgradeUnderWay extends NotAdmitted {
  override readonly name = 'UpgradeUnderWay';

  constructor() {
    super('a newer node is upgrading the schema of the database just now');
  }
}

/** The database was written by a newer program than this one. */
export class NewerSchema extends NotAdmitted {
  override readonly name = 'NewerSchema';

  constructor(found: number, known: number) {
    super(
      `the database has schema version ${found}, and this program knows versions up to ${known}: run the newer snitch that made it, or bring back a dump from before the upgrade`,
    );
  }
}

/** The first number of these locks; the second one is the version of the schema. */
export const SCHEMAS = 0x736e6975;

/** `checkSchemaAccess` reports a table of another program or another user. */
const HOLD = `SELECT pg_try_advisory_lock_shared($1, $2) AS mine, coalesce((
    SELECT has_table_privilege(attrelid, 'SELECT') FROM pg_attribute
    WHERE attrelid = to_regclass('schema_version') AND attname = 'one'), FALSE) AS begun`;

/** A separate statement after the lock, because it must see what was committed before the lock was granted. */
const VERSION = `SELECT version, coalesce((to_jsonb(v) ->> 'oldest')::int, 0) AS oldest FROM schema_version AS v`;

export interface SchemaVersion {
  version: number;
  /** The oldest version whose programs can work on it, as recorded by the migrations that ran. */
  oldest: number;
}

/** A program can be one version older than the database, if the newer version took nothing away. */
export function isTooOld(known: number, { version, oldest }: SchemaVersion): boolean {
  return known < oldest || known < version - 1;
}

/** Whether a program that knows the schema up to this version can use a session. */
export function admission(known: number): (client: pg.ClientBase) => Promise<void> {
  return async (client) => {
    const { rows } = await client.query<{ mine: boolean; begun: boolean }>(HOLD, [SCHEMAS, known]);
    const [held] = rows;
    if (!held?.mine) throw refused(new UpgradeUnderWay(), false);
    if (!held.begun) return;
    const { rows: versions } = await client.query<SchemaVersion>(VERSION);
    const [found = { version: 0, oldest: 0 }] = versions;
    if (!isTooOld(known, found)) return;
    throw refused(new NewerSchema(found.version, known), true);
  };
}

function refused(cause: NotAdmitted, isLasting: boolean): ConnectionFault {
  return new ConnectionFault(cause.message, { isLasting, cause });
}
