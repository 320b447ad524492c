/**
 * Status pages: one of a case at most. While there is one, each change of the status of a snitch of the case is kept beside
 * it, because the strips of the page and its feed are made of these. `since` says from when on that is so.
 */
export const sql = `
ALTER TABLE snitches ADD COLUMN public_name TEXT;

CREATE TABLE status_pages (
  -- Never used again, so that what is kept of a page that is gone belongs to no other.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  case_id TEXT NOT NULL UNIQUE,
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  -- As JSON.
  tags TEXT NOT NULL,
  tag_groups TEXT NOT NULL,
  -- A salted hash; null for a page that everybody may read.
  password_hash TEXT,
  announcement TEXT,
  announced_at BIGINT,
  since BIGINT NOT NULL
);

CREATE TABLE status_changes (
  page_id INTEGER NOT NULL,
  snitch_id INTEGER NOT NULL,
  at BIGINT NOT NULL,
  was TEXT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (page_id, snitch_id, at)
) WITHOUT ROWID;
CREATE INDEX status_changes_by_time ON status_changes (page_id, at);
`;
