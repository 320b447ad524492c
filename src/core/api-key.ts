/** An API key, and what it may do. */

/** `read` and `write` concern one case; `admin` the server and all its cases. */
export type Scope = 'read' | 'write' | 'admin';

/** An API key without its secret. An admin key belongs to no case: `caseId` is null. */
export interface ApiKey {
  id: string;
  caseId: string | null;
  name: string;
  scope: Scope;
  createdAt: number;
  lastUsedAt: number | null;
}
