/**
 * When a job is due, where its interval does not say it. All three are null for a snitch without a schedule, and then
 * no row is longer than before. They stand beside what the state machine reads at every check-in.
 */
export const sql = `
-- As JSON: {"cron": …}, {"calendar": …} or {"every": …}.
ALTER TABLE snitch_states ADD COLUMN schedule TEXT;
ALTER TABLE snitch_states ADD COLUMN timezone TEXT;
-- Seconds.
ALTER TABLE snitch_states ADD COLUMN grace INTEGER;
`;
