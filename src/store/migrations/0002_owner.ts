/** The file under version control that owns a snitch, by the name that the file gives itself; null for none. */
export const sql = `
ALTER TABLE snitches ADD COLUMN owner TEXT;
`;
