/**
 * The notes and tags of a snitch are kept once for all alerts that show them; alerts from before have them in `snitch`.
 * A snitch that alerts too often has a row in `flapping`, where what is not told is counted.
 */
export const sql = `
CREATE TABLE alert_texts (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL
);
ALTER TABLE alerts ADD COLUMN text_id BIGINT;
CREATE INDEX alerts_of_text ON alerts (text_id) WHERE text_id IS NOT NULL;

CREATE TABLE flapping (
  token TEXT PRIMARY KEY,
  since BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  settle_at BIGINT NOT NULL,
  untold BIGINT NOT NULL,
  -- The alert that opened the flapping: what is told of it later joins its thread.
  alert_id TEXT NOT NULL,
  -- The last change, as the alert of it would be.
  last TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX flapping_to_settle ON flapping (settle_at);
`;
