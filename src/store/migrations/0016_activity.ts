/** Who did what, by which key. */
export const sql = `
CREATE TABLE activity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Empty for what concerns the whole server.
  case_id TEXT NOT NULL,
  -- Counts the entries of the case.
  number INTEGER NOT NULL,
  at BIGINT NOT NULL,
  key_id TEXT,
  key_name TEXT NOT NULL,
  action TEXT NOT NULL,
  subject_id TEXT,
  subject_name TEXT NOT NULL,
  -- As JSON.
  details TEXT NOT NULL
);
CREATE INDEX activity_of_case ON activity (case_id, id);
CREATE INDEX activity_of_subject ON activity (case_id, subject_id, id);
CREATE INDEX activity_of_action ON activity (case_id, action, id);
CREATE INDEX activity_at ON activity (at);
`;
