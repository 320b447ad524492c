/** The part of the store for API keys: it stores only their hashes. Instants are milliseconds since the epoch. */
import type { ApiKey, Scope } from '../core/api-key.ts';
import type { Case } from '../core/case.ts';

export interface ApiKeyStore {
  /**
   * Installs a key from outside as the server's admin key of that name and revokes the earlier one; null only revokes.
   */
  provideAdminKey(name: string, key: string | null, now: number): Promise<void>;
  findApiKey(key: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  getApiKey(id: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  /** The keys of a case, or of the server if `caseId` is null. */
  listApiKeys(caseId: string | null): Promise<ApiKey[]>;
  recordKeyUse(id: string, at: number): Promise<void>;
}

/** What people do with keys. */
export interface ApiKeyActs {
  /**
   * Only the answer has the key itself.
   *
   * @param most throws `Invalid` if there are so many already; no limit if absent
   */
  createApiKey(
    key: { caseId: string | null; name: string; scope: Scope },
    now: number,
    most?: number,
  ): Promise<{ apiKey: ApiKey; key: string }>;
  /** False if the case, or the server, has no such key. */
  deleteApiKey(caseId: string | null, id: string): Promise<boolean>;
}
