/** API keys, and what they may do. */

/**
 * `read`, `write` and `provision` concern one case; `admin` the server and all its cases. A key with `provision` may
 * check in by name, which creates the snitch at the first check-in, and do nothing else (`extensions: When a job is
 * due`).
 */
export type Scope = 'read' | 'write' | 'provision' | 'admin';

/** The form of every key. No snitch token that the server generates looks like one. */
const KEY = /^snk_[A-Za-z0-9]{40}$/;

export function looksLikeApiKey(text: string): boolean {
  return KEY.test(text);
}

/** An API key without its secret. An admin key belongs to no case: `caseId` is null. */
export interface ApiKey {
  id: string;
  caseId: string | null;
  name: string;
  scope: Scope;
  createdAt: number;
  lastUsedAt: number | null;
}
