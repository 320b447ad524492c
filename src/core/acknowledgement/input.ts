/** What a person may say with an acknowledgement: input → value or one validation per failing attribute. */

import { codePoints } from '../../text/code-points.ts';
import type { Validation } from '../errors.ts';
import { type Checked, isBlank, NOT_AN_OBJECT } from '../validation.ts';

/** What somebody says with an acknowledgement; null for nothing. */
export interface Acknowledging {
  note: string | null;
  by: string | null;
}

/** In characters. */
export const LONGEST_NOTE = 500;
export const LONGEST_BY = 100;

export const NOTHING_TO_ACKNOWLEDGE: Validation = {
  attribute: 'status',
  message: 'only a failed or errored snitch can be acknowledged',
};

/** The body of an acknowledgement: nothing, or an object with `note` and `by`, each one line of text. */
export function validateAcknowledging(body: unknown): Checked<Acknowledging> {
  if (body === undefined || body === null) return { value: { note: null, by: null } };
  if (typeof body !== 'object' || Array.isArray(body)) return { validations: [NOT_AN_OBJECT] };
  const { note, by } = body as Record<string, unknown>;
  const validations = [faultOf('note', note, LONGEST_NOTE), faultOf('by', by, LONGEST_BY)].filter(
    (fault) => fault !== null,
  );
  if (validations.length > 0) return { validations };
  return { value: { note: textOf(note), by: textOf(by) } };
}

function textOf(given: unknown): string | null {
  return typeof given !== 'string' || isBlank(given) ? null : given.trim();
}

/** These are shown in lists, in logs and on the page, where a line break could pass for another entry. */
function faultOf(attribute: string, given: unknown, most: number): Validation | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'string') return { attribute, message: 'must be a string' };
  if (!given.isWellFormed()) return { attribute, message: 'must be well-formed Unicode' };
  if (/[\p{Cc}\u2028\u2029]/u.test(given)) {
    return { attribute, message: 'must be one line, without control characters' };
  }
  if (codePoints(given) <= most) return null;
  return { attribute, message: `is too long (maximum is ${most} characters)` };
}
