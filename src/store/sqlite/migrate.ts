import type Database from 'better-sqlite3';

/** The database was written by a newer program than this one. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';

  constructor(found: number, known: number) {
    super(
      `the database has schema version ${found}, and this program knows versions up to ${known}: run the newer snitch that made it, or restore a backup from before the upgrade`,
    );
  }
}

/** Runs the migrations that the database has not seen yet, all in one transaction: before or after, never between. */
export function migrate(db: Database.Database, migrations: readonly string[]): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > migrations.length) throw new NewerDatabase(version, migrations.length);
  if (version === migrations.length) return;
  db.transaction(() => {
    for (const sql of migrations.slice(version)) db.exec(sql);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}
