/** Whether the tables can be created, or existing ones used: checked beforehand, to be able to explain why not. */
import pg from 'pg';
import { ConnectionFault } from './hosts/faults.ts';

/** What the server knows of the place for the tables. */
export interface SchemaAccess {
  readonly database: string;
  readonly user: string;
  readonly exists: boolean;
  readonly mayUse: boolean;
  readonly mayCreate: boolean;
  /** Whether a table of Snitch exists. */
  readonly isOurs: boolean;
  /** The name of some existing table, whoever owns it. */
  readonly table: string | null;
  /** Who owns a table in it that this user may not change, or null. */
  readonly owner: string | null;
}

/** Tables of an extension, such as one for monitoring the server, are in nobody's way. */
const NO_EXTENSION = `NOT EXISTS (SELECT 1 FROM pg_depend
  WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`;

const ACCESS = `
  SELECT current_database() AS database, current_user AS user, n.oid IS NOT NULL AS exists,
    coalesce(has_schema_privilege(n.oid, 'USAGE'), FALSE) AS "mayUse",
    coalesce(has_schema_privilege(n.oid, 'CREATE'), FALSE) AS "mayCreate",
    EXISTS (SELECT 1 FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'one'
      WHERE relnamespace = n.oid AND relname = 'schema_version') AS "isOurs",
    (SELECT min(relname COLLATE "C") FROM pg_class WHERE relnamespace = n.oid AND relkind IN ('r', 'p', 'v', 'm')
      AND ${NO_EXTENSION}) AS table,
    (SELECT min(pg_get_userbyid(relowner)::text) FROM pg_class
      WHERE relnamespace = n.oid AND relkind IN ('r', 'p') AND NOT pg_has_role(relowner, 'USAGE')
      AND ${NO_EXTENSION}) AS owner
  FROM (SELECT to_regnamespace($1) AS oid) AS n`;

/** @throws ConnectionFault that says what to do, if the tables can neither be created nor used */
export async function checkSchemaAccess(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<SchemaAccess>(ACCESS, [pg.escapeIdentifier(schema)]);
  const words = rows[0] ? refusalOfAccess(rows[0], schema) : null;
  if (words !== null) throw new ConnectionFault(words, { isLasting: true });
}

/** What keeps the schema from being used, and what to do about it; null if nothing does. */
export function refusalOfAccess(access: SchemaAccess, schema: string): string | null {
  const user = pg.escapeIdentifier(access.user);
  const place = `schema ${schema} of the database ${access.database}`;
  if (!access.exists)
    return `the database ${access.database} has no schema ${schema}: as its owner run CREATE SCHEMA ${schema} AUTHORIZATION ${user}`;
  if (!access.mayUse || (!access.mayCreate && !access.isOurs))
    return `${access.user} may not make tables in the ${place}: let it own the database (ALTER DATABASE ${pg.escapeIdentifier(access.database)} OWNER TO ${user}), or run GRANT ALL ON SCHEMA ${schema} TO ${user} there`;
  if (!access.isOurs && access.table !== null)
    return `the ${place} has tables of something else (such as ${access.table}): give Snitch its own empty database`;
  if (access.owner !== null)
    return `tables in the ${place} belong to ${access.owner}, and ${access.user} may not change them: after a pg_restore, restore again into a new database with --no-owner --role=${access.user}; otherwise run ALTER TABLE … OWNER TO ${user} for each`;
  return null;
}
