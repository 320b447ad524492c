/**
 * When a job is due, if its interval does not say so. All three are null for a snitch without a schedule, whose row is
 * then no longer than before. They are next to what the state machine reads at every check-in.
 */
export const sql = `
-- As JSON: {"cron": …}, {"calendar": …} or {"every": …}.
ALTER TABLE snitch_states ADD COLUMN schedule TEXT;
ALTER TABLE snitch_states ADD COLUMN timezone TEXT;
-- Seconds.
ALTER TABLE snitch_states ADD COLUMN grace INTEGER;
`;
