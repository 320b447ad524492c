/**
 * Says why an expression is not a schedule, in words that follow the name of the field: `schedule cannot be read: …`.
 */
export class ScheduleRefused extends Error {
  override readonly name = 'ScheduleRefused';
}

/** No expression that a person wrote is longer; a longer one is not worth reading. */
const LONGEST_EXPRESSION = 500;

/**
 * The words of an expression, split at any white space.
 *
 * @throws ScheduleRefused for one that is blank or too long
 */
export function wordsOf(expression: string): string[] {
  if (expression.length > LONGEST_EXPRESSION) {
    throw new ScheduleRefused(`is too long (maximum is ${LONGEST_EXPRESSION} characters)`);
  }
  const words = expression.trim().split(/\s+/);
  if (words[0] === '') throw new ScheduleRefused(`can't be blank`);
  return words;
}

/** Shows a part of an expression, shortened and without what a terminal would act on. */
export function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').slice(0, 40)}"`;
}
