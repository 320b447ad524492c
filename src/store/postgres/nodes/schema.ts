/**
 * Changes the table only if the column is missing: even an ALTER TABLE that changes nothing waits for all its users.
 */
export function missingColumn(table: string, name: string, type: string): string {
  return `DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attname = '${name}') THEN
    ALTER TABLE ${table} ADD COLUMN ${name} ${type};
  END IF;
END $$;`;
}

/**
 * The nodes on this database. A node is one run of the program: after a restart it is a different one, so that copies
 * of a host cannot be mistaken for each other. All instants are milliseconds of the database's clock.
 *
 * - `freed_at`: another node took it for dead and released what it had claimed. Cleared by its next sign.
 * - `unsure_from`: it began so soon after the last sign of any other that it was unknown whether one of them lived.
 * - `held_socket`: it answered everybody before it ended, and its service manager holds this socket for the next start.
 */
export const NODES = `
CREATE TABLE IF NOT EXISTS nodes (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  alive_at BIGINT NOT NULL,
  stopped_at BIGINT,
  clock_ahead_ms BIGINT NOT NULL DEFAULT 0
);
${missingColumn('nodes', 'freed_at', 'BIGINT')}
${missingColumn('nodes', 'unsure_from', 'BIGINT')}
${missingColumn('nodes', 'schema_version', 'INTEGER NOT NULL DEFAULT 19')}
${missingColumn('nodes', 'held_socket', 'TEXT')}
CREATE TABLE IF NOT EXISTS waiting_nodes (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  started_at BIGINT NOT NULL,
  alive_at BIGINT NOT NULL
);
`;
