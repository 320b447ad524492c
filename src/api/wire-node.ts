/** One run of the daemon on a database that several share; times are of the database's clock. */
export interface WireNode {
  id: string;
  /** The name of its host. */
  name: string;
  version: string;
  /** Whether it is the node that sent this answer. */
  answers: boolean;
  started_at: string;
  alive_at: string;
  /** Null while it runs, or if it ended without saying so. */
  stopped_at: string | null;
  clock_ahead_ms: number;
  /** The newest version of the database schema that its program knows. */
  schema_version: number;
  /** It does no work yet, because its schema upgrade would break live nodes of an older version. */
  waits: boolean;
}
