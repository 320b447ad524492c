/**
 * The nodes on this database. A node is one run of the program: after a restart it is another one, so that copies of a
 * host cannot be taken for each other. All instants are milliseconds of the database's clock.
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
`;
