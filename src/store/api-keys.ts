/** The part of the store for API keys: it keeps only their hashes. Instants are milliseconds since the epoch. */
import type { ApiKey, Scope } from '../core/api-key.ts';
import type { Case } from '../core/case.ts';

export interface ApiKeyStore {
  /** Makes a key that was made elsewhere the one of that name for the server; null takes the one it had. */
  provideAdminKey(name: string, key: string | null, now: number): Promise<void>;
  findApiKey(key: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  getApiKey(id: string): Promise<{ apiKey: ApiKey; case: Case | null } | null>;
  /** Those of a case, or of the server where `caseId` is null. */
  listApiKeys(caseId: string | null): Promise<ApiKey[]>;
  recordKeyUse(id: string, at: number): Promise<void>;
}

/** What people do with keys. */
export interface ApiKeyActs {
  /**
   * The key itself is in the answer and nowhere else.
   *
   * @param most throws `Invalid` where there are so many already; no limit when absent
   */
  createApiKey(
    key: { caseId: string | null; name: string; scope: Scope },
    now: number,
    most?: number,
  ): Promise<{ apiKey: ApiKey; key: string }>;
  /** False where the case, or the server, has no such key. */
  deleteApiKey(caseId: string | null, id: string): Promise<boolean>;
}
