/** What the checks of all that clients send have in common. */
import type { Validation } from './errors.ts';

/** Attributes by their names; nobody has checked them yet. */
export type Body = Record<string, unknown>;

/** Neither null nor a list. */
export function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a client means something by it: an empty text stands for nothing. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** @param message continues a sentence that begins with the attribute */
export function refuse(attribute: string, message: string): { validations: Validation[] } {
  return { validations: [{ attribute, message }] };
}
