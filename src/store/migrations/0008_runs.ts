/**
 * What a run must look like, and why a snitch is failed or errored. All are null for a snitch that is well and watches
 * no runs, and then no row is longer than before.
 */
export const sql = `
-- As JSON (core/reason.ts).
ALTER TABLE snitch_states ADD COLUMN reason TEXT;
-- Seconds.
ALTER TABLE snitch_states ADD COLUMN max_runtime INTEGER;
-- As JSON: the runs that began and have not ended, of a snitch with a max_runtime (core/runs.ts).
ALTER TABLE snitch_states ADD COLUMN runs TEXT;
`;
