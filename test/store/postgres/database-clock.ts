/** The clock of one database in the place of that of its host, which the daemons on it go by when they sweep. */
import { queryOnPostgres } from './open.ts';

/** The function of the server keeps its own number and gets another name: what asks for the time finds the other one. */
const OWN_CLOCK = `DO $$ BEGIN
  IF to_regprocedure('pg_catalog.host_clock()') IS NULL THEN
    ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO host_clock;
  END IF;
END $$`;

/**
 * Sets it so far ahead of the real one from now on. It is meant for a time at which no daemon is on the database: all
 * nodes would have been silent while it jumps.
 */
export async function setDatabaseClock(directory: string, aheadMs: number): Promise<void> {
  await queryOnPostgres(directory, OWN_CLOCK);
  await queryOnPostgres(
    directory,
    `CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
     AS $$ SELECT pg_catalog.host_clock() + interval '1 millisecond' * ${Math.round(aheadMs)} $$`,
  );
}
