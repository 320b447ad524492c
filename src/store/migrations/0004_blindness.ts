/**
 * What blind windows did to deadlines, when pauses began, and which webhooks want notices. A deadline that windows moved
 * by their length keeps in `moved_from` what it was before.
 */
export const sql = `
ALTER TABLE snitch_states ADD COLUMN moved_from BIGINT;
ALTER TABLE snitch_states ADD COLUMN paused_at BIGINT;
ALTER TABLE postponements ADD COLUMN due_before BIGINT;
ALTER TABLE postponements ADD COLUMN due_at BIGINT;
ALTER TABLE webhooks ADD COLUMN notices INTEGER NOT NULL DEFAULT 0;
`;
