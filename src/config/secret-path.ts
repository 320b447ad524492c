/** A setting that names a file with a secret. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

export const secretFile = z
  .string()
  .refine((path) => isAbsolute(path) && isPlainText(path))
  .describe('the absolute path of a file that holds the secret in its one line');

/** Whether the text has no characters that would change how a terminal shows it. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);
}
