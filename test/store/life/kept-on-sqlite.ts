import { assertKept } from '../../kept-text.ts';
import { ON_POSTGRES } from '../postgres/open.ts';

/**
 * For lives with many claims. Deliveries to one target can wait for each other, and PostgreSQL looks at each of them
 * only once in a claim: so the databases may send them in another order. There, only what must be true at any time is
 * checked, while the life goes on.
 */
export function assertKeptOnSqlite(file: string, lines: readonly string[]): void {
  if (!ON_POSTGRES) assertKept(file, lines);
}
