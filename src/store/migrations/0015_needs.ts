/**
 * What snitches need of each other, in the order in which they name it: a snitch by its number, or all that have a tag.
 *
 * - `needs` of a state is null for a snitch that needs nothing; else the JSON of the alert that is held, `{}` for none.
 * - `well_since` is when the snitch was last failed and ceased to be, where anything in its case has needs.
 * - A row of `reliefs` is a snitch that holds alerts no more, with the tags by which it was needed: the deadlines of those
 *   that need it restart, those behind `cursor` not yet. `gone`: it was deleted, and the needs that name it go as well.
 *   With the tags `null` it is a silence that ended, which may have covered whatever is needed in the case.
 */
export const sql = `
CREATE TABLE needs (
  snitch_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  case_id TEXT NOT NULL,
  needed_id INTEGER,
  tag TEXT,
  PRIMARY KEY (snitch_id, position)
) WITHOUT ROWID;
CREATE INDEX needs_of_snitch ON needs (needed_id, snitch_id) WHERE needed_id IS NOT NULL;
CREATE INDEX needs_of_tag ON needs (case_id, tag, snitch_id);

CREATE TABLE reliefs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  case_id TEXT NOT NULL,
  needed_id INTEGER NOT NULL,
  -- As JSON.
  tags TEXT NOT NULL,
  gone INTEGER NOT NULL,
  cursor INTEGER NOT NULL
);

ALTER TABLE snitch_states ADD COLUMN needs TEXT;
ALTER TABLE snitch_states ADD COLUMN well_since BIGINT;
`;
