export const sql = `
CREATE TABLE cases (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  timezone TEXT NOT NULL,
  members TEXT NOT NULL,
  reminders TEXT NOT NULL,
  error_notices INTEGER NOT NULL,
  max_snitches INTEGER,
  on_hold INTEGER NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  case_id TEXT,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);
CREATE INDEX api_keys_of_case ON api_keys (case_id);

CREATE TABLE snitches (
  id INTEGER PRIMARY KEY,
  token TEXT NOT NULL UNIQUE,
  case_id TEXT NOT NULL,
  name TEXT NOT NULL,
  notes TEXT NOT NULL,
  tags TEXT NOT NULL,
  alert_email TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX snitches_of_case ON snitches (case_id, id);

-- What changes at every check-in, in narrow rows of its own. due_at is null when nothing is awaited.
CREATE TABLE snitch_states (
  token TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  interval TEXT NOT NULL,
  alert_type TEXT NOT NULL,
  status TEXT NOT NULL,
  checked_in_at BIGINT,
  last_check_in_at BIGINT,
  due_at BIGINT,
  pause_kind TEXT,
  pause_until BIGINT,
  remembered TEXT,
  postponed INTEGER NOT NULL,
  thread_id TEXT,
  open_start_at BIGINT,
  last_check_in_id BIGINT,
  check_in_count BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX snitch_states_due ON snitch_states (due_at, token) WHERE due_at IS NOT NULL;

-- Append-only: the check-ins of one snitch are chained by previous_id, so that a check-in writes no index page.
CREATE TABLE check_ins (
  id INTEGER PRIMARY KEY,
  previous_id BIGINT,
  token TEXT NOT NULL,
  number BIGINT NOT NULL,
  at BIGINT NOT NULL,
  outcome TEXT NOT NULL,
  exit_status INTEGER,
  message TEXT,
  duration_ms BIGINT,
  source TEXT,
  run_id TEXT
);

CREATE TABLE check_in_outputs (
  check_in_id BIGINT PRIMARY KEY,
  output TEXT NOT NULL
);

-- The first check-in of each of the last periods: what smart deadlines learn from.
CREATE TABLE first_check_ins (
  token TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (token, at)
) WITHOUT ROWID;

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_until BIGINT,
  created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_of_case ON webhooks (case_id, created_at, id);

CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  case_id TEXT NOT NULL,
  token TEXT,
  type TEXT NOT NULL,
  at BIGINT NOT NULL,
  snitch TEXT,
  details TEXT,
  notice TEXT
);
CREATE INDEX alerts_of_case ON alerts (case_id, at, id);
CREATE INDEX alerts_of_snitch ON alerts (token, at, id);
CREATE INDEX alerts_by_age ON alerts (at);

CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  case_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  -- 1 while a sender has it: next_attempt_at is then the end of the lease.
  leased INTEGER NOT NULL,
  last_error TEXT,
  next_attempt_at BIGINT,
  delivered_at BIGINT
);
CREATE INDEX deliveries_of_case ON deliveries (case_id, id);
CREATE INDEX deliveries_of_alert ON deliveries (alert_id);
CREATE INDEX deliveries_in_state ON deliveries (case_id, state, id);
CREATE INDEX deliveries_pending ON deliveries (channel, target, next_attempt_at) WHERE state = 'pending';
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'pending';

CREATE TABLE blind_windows (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  -- The last token that was looked at for postponement; null when all were.
  cursor TEXT
);

CREATE TABLE postponements (
  window_id BIGINT NOT NULL,
  case_id TEXT NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (window_id, case_id, token)
) WITHOUT ROWID;

-- Cases whose rules changed, with the last snitch that was rescheduled.
CREATE TABLE reschedules (
  case_id TEXT PRIMARY KEY,
  deadlines INTEGER NOT NULL,
  cursor BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
`;
