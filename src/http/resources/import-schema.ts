/** What the bodies of `/v1/imports` and `/v1/ownership` are made of. */
import { z } from 'zod';
import type { Validation } from '../../core/errors.ts';
import { type ImportedInput, importedAttribute, validateImportedSnitch } from '../../core/imported-snitch.ts';
import type { Said } from '../../core/snitch-input.ts';
import { line } from './case-schema.ts';

/** How many snitches one request may name. The store handles them in one step, and check-ins wait for it. */
export const LARGEST_IMPORT = 500;

export const snitches = z
  .array(z.unknown(), { error: 'must be an array of snitches' })
  .max(LARGEST_IMPORT, `has too many snitches (maximum is ${LARGEST_IMPORT})`);

export const tokens = z
  .array(z.string({ error: 'must be an array of tokens' }).max(64, 'must be an array of tokens'), {
    error: 'must be an array of tokens',
  })
  .min(1, `can't be blank`)
  .max(LARGEST_IMPORT, `has too many tokens (maximum is ${LARGEST_IMPORT})`);

/** The name of the file that snitches are managed in; null for none. */
export const owner = line(100).nullable();

/** The snitches or channels that the client knows, so it duplicates none that was made meanwhile; null not to check. */
export const known = z
  .array(z.string({ error: 'must be an array of strings' }).max(64, 'must be an array of strings'), {
    error: 'must be an array of strings',
  })
  .max(LARGEST_IMPORT, `has too many entries (maximum is ${LARGEST_IMPORT})`)
  .nullable()
  .default(null);

/**
 * @param said the context
 * @returns the valid ones, their positions in the request, and what is wrong with the others
 */
export function readSnitches(bodies: readonly unknown[], said: Said) {
  const imported: ImportedInput[] = [];
  const indexes: number[] = [];
  const validations: Validation[] = [];
  for (const [index, body] of bodies.entries()) {
    const checked = validateImportedSnitch(body, said);
    for (const { attribute, message } of checked.validations ?? []) {
      validations.push({ attribute: importedAttribute(index, attribute), message });
    }
    if (!checked.value) continue;
    imported.push(checked.value);
    indexes.push(index);
  }
  return { imported, indexes, validations };
}
