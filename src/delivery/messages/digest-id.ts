import { createHash } from 'node:crypto';
import type { Breaks } from './breaks.ts';
import type { DigestEntry } from './digest-entry.ts';

/** Identifies a set of alerts, in hexadecimal digits: their order makes no difference. */
export async function digestId(entries: readonly DigestEntry[], breaks: Breaks): Promise<string> {
  await breaks.rest();
  const ids = entries.map(({ alertId }) => alertId).sort();
  await breaks.rest();
  return createHash('sha256').update(ids.join('\n')).digest('hex');
}
