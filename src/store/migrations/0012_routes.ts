/**
 * Routes of webhooks and members, which channels have in their own rows; what has none takes all that the contract sends.
 * A delivery that waits for its time has the token of its snitch beside it, so that the end of what it would tell finds
 * it: `waits` says for what.
 */
export const sql = `
ALTER TABLE deliveries ADD COLUMN waits TEXT;
ALTER TABLE deliveries ADD COLUMN waiting_token TEXT;
CREATE INDEX deliveries_waiting ON deliveries (waiting_token) WHERE state = 'pending' AND waiting_token IS NOT NULL;

CREATE TABLE routes (
  case_id TEXT NOT NULL,
  -- The id of a webhook, or the address of a member in lower case.
  target TEXT NOT NULL,
  events TEXT NOT NULL,
  tags TEXT NOT NULL,
  -- Seconds.
  delay INTEGER NOT NULL,
  hours TEXT,
  PRIMARY KEY (case_id, target)
) WITHOUT ROWID;
`;
