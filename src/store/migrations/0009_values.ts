/**
 * What a run must look like to be a success, and the numbers that jobs report. All columns are null for a snitch whose
 * runs are taken as they report themselves, and then no row is longer than before.
 */
export const sql = `
-- As JSON: minRuntime, failuresBeforeAlert and expect (core/judgement/rules.ts).
ALTER TABLE snitch_states ADD COLUMN run_rules TEXT;
-- Error check-ins since the last healthy one; null for none, or where they are not counted.
ALTER TABLE snitch_states ADD COLUMN errors_in_row INTEGER;
-- As JSON: the values, what of them could not be read, and why a success counts as an error.
ALTER TABLE check_ins ADD COLUMN report TEXT;

-- As JSON: the last of each value, and those of the last successful runs (core/judgement/usual.ts).
CREATE TABLE snitch_values (
  snitch_id INTEGER PRIMARY KEY,
  histories TEXT NOT NULL
);
`;
