/**
 * The first schema was changed twice under the same version number before it was settled. A database of an earlier form
 * gets what that form lacks: the column for leases, and two indexes as the statements of today want them.
 */
import type { Migration } from './migration.ts';

const LEASED = 'ALTER TABLE deliveries ADD COLUMN leased INTEGER NOT NULL DEFAULT 0;';

const INDEXES = `
DROP INDEX webhooks_of_case;
CREATE INDEX webhooks_of_case ON webhooks (case_id, created_at, id);
DROP INDEX deliveries_pending;
CREATE INDEX deliveries_pending ON deliveries (channel, target, next_attempt_at) WHERE state = 'pending';
`;

export const sql: Migration = (hasColumn) =>
  hasColumn('deliveries', 'leased') ? INDEXES : `${LEASED}${INDEXES}`;
