/** Why a request failed, in words. */
import { ApiError } from '../../api/client.ts';

/** The messages of validations if there are any, because they say more than the error itself. */
export function reasonOf(error: Error): string {
  const validations = error instanceof ApiError ? (error.body?.validations ?? []) : [];
  if (validations.length === 0) return error.message;
  return validations.map(({ attribute, message }) => `${attribute} ${message}`).join('; ');
}
