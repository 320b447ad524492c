/** Replaces the clock of one database, which decides for its daemons when they sweep. */
import { queryOnPostgres } from './open.ts';

/** The functions that tell the time of this very moment; what else the server has of that kind, nothing asks. */
const FUNCTIONS = [
  { name: 'clock_timestamp', kind: 'VOLATILE' },
  { name: 'statement_timestamp', kind: 'STABLE' },
];

/**
 * The function of the server keeps its own number and gets another name: what asks for the time finds the other one, unless
 * it was prepared before. Each database has functions of its own, so that no other one on its cluster notices.
 */
const ownClock = (name: string) => `DO $$ BEGIN
  IF to_regprocedure('pg_catalog.host_${name}()') IS NULL THEN
    ALTER FUNCTION pg_catalog.${name}() RENAME TO host_${name};
  END IF;
END $$`;

/**
 * Sets it so far ahead of the real one from now on. The first time is to come before any daemon on the database starts.
 * For those that run later, a jump ahead is a time in which all nodes were silent.
 */
export async function setDatabaseClock(directory: string, aheadMs: number): Promise<void> {
  const offset = `interval '1 millisecond' * ${Math.round(aheadMs)}`;
  for (const { name, kind } of FUNCTIONS) {
    await queryOnPostgres(directory, ownClock(name));
    await queryOnPostgres(
      directory,
      `CREATE OR REPLACE FUNCTION pg_catalog.${name}() RETURNS timestamptz LANGUAGE sql ${kind}
       AS $$ SELECT pg_catalog.host_${name}() + ${offset} $$`,
    );
  }
}
