/**
 * What a migration means for programs of the version before it, which share a database with newer ones during an upgrade:
 * one that expands leaves them all that they read and write, and one that contracts takes something of it away.
 */
export type Kind = 'expands' | 'contracts';

export interface Declared {
  readonly kind: Kind;
  readonly change: Undeclared;
}

/** Those that came before several nodes could share a database declare nothing, and count as contracting. */
export type Migration = Undeclared | Declared;

export function changeOf(migration: Migration): Undeclared {
  return isDeclared(migration) ? migration.change : migration;
}

export function kindOf(migration: Migration): Kind {
  return isDeclared(migration) ? migration.kind : 'contracts';
}

export function isDeclared(migration: Migration): migration is Declared {
  return typeof migration === 'object' && 'kind' in migration;
}

/**
 * The oldest version of the schema whose programs may work on the database when the migrations behind `from` have run: of
 * the version before where one expands, and of no earlier one than its own where one contracts.
 */
export function oldestAfter(migrations: readonly Migration[], from: number): number {
  const allowed = migrations.map((migration, index) =>
    kindOf(migration) === 'contracts' ? index + 1 : index,
  );
  return Math.max(0, ...allowed.slice(from));
}

/**
 * SQL; or a function that makes it, for a schema that was committed in several forms under one version; or steps, for
 * a change of many rows.
 */
export type Undeclared =
  | string
  | ((hasColumn: (table: string, column: string) => boolean) => string)
  | Step[];

/** All steps of all migrations run in one transaction: a walk is cut into parts only so that its progress shows. */
export type Step = string | Walk;

/** One statement, run for one stretch of ids after the other until all rows of the table were in one. */
export interface Walk {
  /** The table whose ids are walked. */
  over: string;
  /** Takes two values: the id behind which the stretch begins, and the last id in it. */
  sql: string;
}
