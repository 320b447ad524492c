/**
 * Channels of a case, and what the services answered: the id of a message stands with its delivery, so that a recovery
 * can refer to its alarm. Alarms that a service must be told of again and again have a row in `repeats`.
 */
export const sql = `
CREATE TABLE channels (
  id TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- As JSON, with the secrets in it.
  settings TEXT NOT NULL,
  events TEXT NOT NULL,
  tags TEXT NOT NULL,
  -- Seconds.
  delay INTEGER NOT NULL,
  hours TEXT,
  refused_at BIGINT,
  refusal TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX channels_of_case ON channels (case_id, created_at, id);

ALTER TABLE deliveries ADD COLUMN reference TEXT;

CREATE TABLE repeats (
  channel_id TEXT NOT NULL,
  token TEXT NOT NULL,
  case_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  next_at BIGINT NOT NULL,
  PRIMARY KEY (channel_id, token)
) WITHOUT ROWID;
CREATE INDEX repeats_due ON repeats (next_at);
`;
