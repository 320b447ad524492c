/** What a client may set on a badge: input → value, or one validation per failing attribute. */

import { codePoints } from '../../text/code-points.ts';
import { type Body, isGiven, refuse } from '../input.ts';
import { BLANK, type Checked, NOT_AN_OBJECT, validateSnitchChanges } from '../validation.ts';
import { LONGEST_LABEL, NO_NAME, shownLabel } from './badge.ts';

export interface NewBadge {
  subject: { kind: 'snitch'; token: string } | { kind: 'tag'; tag: string };
  label: string | null;
}

/** A missing body counts as an empty object. */
export function validateNewBadge(given: unknown = {}): Checked<NewBadge> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { validations: [NOT_AN_OBJECT] };
  const subject = checkSubject(given as Body);
  const label = checkLabel((given as Body).label);
  if (subject.validations || label.validations) {
    return { validations: [...(subject.validations ?? []), ...(label.validations ?? [])] };
  }
  return { value: { subject: subject.value, label: label.value } };
}

function checkSubject({ token, tag }: Body): Checked<NewBadge['subject']> {
  const hasToken = isGiven(token);
  if (hasToken && isGiven(tag)) return refuse('tag', 'excludes "token": make a badge for each');
  if (hasToken) {
    return typeof token === 'string'
      ? { value: { kind: 'snitch', token } }
      : refuse('token', 'must be a string');
  }
  if (!isGiven(tag)) return refuse('token', 'is missing: say of what, by "token" or by "tag"');
  const { value, validations } = validateSnitchChanges({ tags: [tag] });
  if (validations) return { validations: validations.map(({ message }) => ({ attribute: 'tag', message })) };
  const [one] = value.tags ?? [];
  return one === undefined ? refuse('tag', BLANK) : { value: { kind: 'tag', tag: one } };
}

/** A form sends a blank label to leave it out. */
function checkLabel(given: unknown): Checked<string | null> {
  if (given === undefined || given === null) return { value: null };
  if (typeof given !== 'string') return refuse('label', 'must be a string');
  if (given.trim() === '') return { value: null };
  if (!given.isWellFormed()) return refuse('label', 'must be well-formed Unicode');
  if (/\p{Cc}/u.test(given)) return refuse('label', 'must not contain control characters');
  if (codePoints(given) > LONGEST_LABEL) {
    return refuse('label', `is too long (maximum is ${LONGEST_LABEL} characters)`);
  }
  if (shownLabel(given) === NO_NAME && given.trim() !== NO_NAME)
    return refuse('label', 'has no character that can be seen');
  return { value: given };
}
