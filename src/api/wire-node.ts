/** One run of the daemon on a database that several share; times are of the database's clock. */
export interface WireNode {
  id: string;
  /** The name of its host. */
  name: string;
  version: string;
  /** Whether it is the one that answers. */
  answers: boolean;
  started_at: string;
  alive_at: string;
  /** Null while it runs, or where it ended without a word. */
  stopped_at: string | null;
  clock_ahead_ms: number;
  /** Up to which its program knows the schema of the database. */
  schema_version: number;
  /** It does no work yet, because its upgrade of the schema would break the running nodes of an older version. */
  waits: boolean;
}
