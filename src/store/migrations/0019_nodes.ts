/** Several nodes on one database: whose claim a delivery has, and which node serves which target for now. */
export const sql = `
-- Of the node that claimed it last; null where the store is used by one program alone.
ALTER TABLE deliveries ADD COLUMN node TEXT;

CREATE TABLE turns (
  channel TEXT NOT NULL,
  target TEXT NOT NULL,
  node TEXT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (channel, target)
) WITHOUT ROWID;
`;
