/**
 * Planned times without alarms. Nothing stands with the snitches that a silence covers: it is asked for when one of them
 * is due. An alarm that a silence keeps back has a row in `silenced_alarms` until the silence ends.
 */
export const sql = `
CREATE TABLE silences (
  id TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  -- As JSON.
  scope TEXT NOT NULL,
  -- Of one that holds once.
  from_at BIGINT,
  to_at BIGINT,
  -- Of a recurring one: the schedule as JSON, and milliseconds.
  schedule TEXT,
  duration BIGINT,
  timezone TEXT,
  note TEXT NOT NULL,
  made_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- When somebody ended it early.
  ended_at BIGINT,
  -- When it is over for good; far in the future for a recurring one.
  over_at BIGINT NOT NULL,
  -- When it ends next, until that is noted for what needs the snitches that it covers; null where it does so no more.
  ends_at BIGINT,
  -- Snitches that wait for the end that a change took away, and the snitch to go on behind.
  release_look_at BIGINT,
  release_cursor BIGINT
);
CREATE INDEX silences_of_case ON silences (case_id, over_at);
CREATE INDEX silences_by_end ON silences (over_at);
CREATE INDEX silences_to_end ON silences (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX silences_to_release ON silences (id) WHERE release_cursor IS NOT NULL;

CREATE TABLE silenced_alarms (
  snitch_id BIGINT PRIMARY KEY,
  settle_at BIGINT NOT NULL,
  -- The decision and its details as JSON.
  told TEXT NOT NULL
);
CREATE INDEX silenced_alarms_to_settle ON silenced_alarms (settle_at);
`;
