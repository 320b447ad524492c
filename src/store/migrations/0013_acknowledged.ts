/** Who has seen the present alarm of a snitch. Null nearly always, and then no row is longer than before. */
export const sql = `
-- As JSON: at, note and by (core/snitch.ts).
ALTER TABLE snitch_states ADD COLUMN acknowledged TEXT;
`;
