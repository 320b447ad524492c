/**
 * SQL; or a function that makes it, for a schema that was committed in several forms under one version; or steps, for
 * a change of many rows.
 */
export type Migration = string | ((hasColumn: (table: string, column: string) => boolean) => string) | Step[];

/** All steps of all migrations run in one transaction: a walk is cut into parts only so that its progress shows. */
export type Step = string | Walk;

/** One statement, run for one stretch of ids after the other until all rows of the table were in one. */
export interface Walk {
  /** The table whose ids are walked. */
  over: string;
  /** Takes two values: the id behind which the stretch begins, and the last id in it. */
  sql: string;
}
