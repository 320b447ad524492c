/** Badges of snitches and of tags: exactly one of `snitch_id` and `tag` is set. */
export const sql = `
CREATE TABLE badges (
  id TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  snitch_id BIGINT,
  tag TEXT,
  -- Null for the name of the snitch, or the tag.
  label TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX badges_of_case ON badges (case_id, created_at);
CREATE INDEX badges_of_snitch ON badges (snitch_id) WHERE snitch_id IS NOT NULL;
`;
