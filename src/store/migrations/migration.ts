/**
 * What a migration means for programs of the previous version, which share a database with newer ones during an
 * upgrade: one that expands leaves everything that they read and write; one that contracts takes something of it away.
 */
export type Kind = 'expands' | 'contracts';

export interface Declared {
  readonly kind: Kind;
  readonly change: Undeclared;
}

/** Migrations from before several nodes could share a database declare nothing, and count as contracting. */
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
 * The oldest schema version whose programs can work on the database once the migrations after `from` have run: an
 * expanding migration allows the version before its own, a contracting one none before its own.
 */
export function oldestAfter(migrations: readonly Migration[], from: number): number {
  const allowed = migrations.map((migration, index) =>
    kindOf(migration) === 'contracts' ? index + 1 : index,
  );
  return Math.max(0, ...allowed.slice(from));
}

/**
 * SQL; or a function that returns it, for a schema that was committed in several forms under one version; or steps, for
 * a change of many rows.
 */
export type Undeclared =
  | string
  | ((hasColumn: (table: string, column: string) => boolean) => string)
  | Step[];

/** All steps of all migrations run in one transaction: a walk is cut into parts only to show its progress. */
export type Step = string | Walk;

/** One statement, run for one stretch of ids after another until it has covered all rows of the table. */
export interface Walk {
  /** The table whose ids are walked. */
  over: string;
  /** Has two parameters: the id after which the stretch begins, and the last id in it. */
  sql: string;
}
