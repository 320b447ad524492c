/** The file under version control that a snitch is kept in, by the name that the file gives itself; null for none. */
export const sql = `
ALTER TABLE snitches ADD COLUMN owner TEXT;
`;
