/** Check-ins by name look up snitches by name, in the order in which they were created. */
export const sql = `
CREATE INDEX snitches_by_name ON snitches (case_id, name);
`;
