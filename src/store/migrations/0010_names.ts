/** Snitches are found by name at every check-in by name, in the order in which they were made. */
export const sql = `
CREATE INDEX snitches_by_name ON snitches (case_id, name);
`;
