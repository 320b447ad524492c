/** A snitch imported from elsewhere, which can keep its token (`decisions: Wire format, Tokens`). */
import type { Validation } from './errors.ts';
import { type FullInput, readNewSnitch, type Said } from './snitch-input.ts';
import { type Checked, NOT_AN_OBJECT } from './validation.ts';

export const TOKEN_TAKEN = 'is taken';

/** Of bounded length, and only characters that need no escaping in a check-in address. */
const TOKEN = /^[A-Za-z0-9_-]{6,64}$/;

/** These are paths of the server itself, should check-in addresses begin at the root. */
const PATHS = new Set(['healthz', 'readyz', 'metrics']);

export interface ImportedInput extends FullInput {
  /** Null to get a new token. */
  token: string | null;
}

/** Like a new snitch, but with its `token`. */
export function validateImportedSnitch(body: unknown, said: Said): Checked<ImportedInput> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { validations: [NOT_AN_OBJECT] };
  const { value, validations = [] } = readNewSnitch(body, said);
  const { token = null } = body as { token?: unknown };
  const fault = token === null ? null : faultOfToken(token);
  if (fault !== null) return { validations: [...validations, fault] };
  return value ? { value: { ...value, token: token as string | null } } : { validations };
}

function faultOfToken(token: unknown): Validation | null {
  if (typeof token === 'string' && TOKEN.test(token) && !PATHS.has(token)) return null;
  return { attribute: 'token', message: 'must be 6 to 64 letters, digits, hyphens or underscores' };
}

/** The name of an attribute of one of several snitches in a body. */
export function importedAttribute(index: number, attribute: string): string {
  return `snitches[${index}].${attribute}`;
}
