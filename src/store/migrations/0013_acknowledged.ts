/** Who acknowledged the snitch's present alarm. Null nearly always, and then no row is longer than before. */
export const sql = `
-- As JSON: at, note and by (core/snitch.ts).
ALTER TABLE snitch_states ADD COLUMN acknowledged TEXT;
`;
