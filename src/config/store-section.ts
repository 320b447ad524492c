/** The section `store`: where the data are kept, if not in the data directory. */
import { z } from 'zod';
import { parsePostgresUrl } from '../core/database/postgres-url.ts';
import { secretFile } from './secret-path.ts';

const storeUrl = z
  .string()
  .superRefine(requireReadable)
  .describe(
    'postgres://USER@HOST[:PORT]/DATABASE?sslmode=verify-full, with all hosts of the cluster separated by commas; @ and / in a password are written %40 and %2F',
  );

export const storeSection = z
  .strictObject({ url: storeUrl.optional(), password_file: secretFile.optional() })
  .superRefine(({ url, password_file }, context) => {
    if (password_file === undefined || url !== undefined) return;
    const message = 'is set, but there is no store.url whose password it could hold';
    context.addIssue({ code: 'custom', path: ['password_file'], message, params: { complete: true } });
  });

export type StoreSection = z.output<typeof storeSection>;

/** The message completes "store.url …", and shows nothing of the address. */
function requireReadable(text: string, context: z.core.$RefinementCtx): void {
  try {
    parsePostgresUrl(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'is not the address of a database';
    context.addIssue({ code: 'custom', message, params: { complete: true } });
  }
}
