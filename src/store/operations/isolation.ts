import { StoreUnavailable } from '../../core/errors.ts';
import type { Transaction } from '../transaction.ts';

export type Isolated<T> = { value: T; error?: never } | { value?: never; error: unknown };

/**
 * Runs `operation` for one row of many: a row that contradicts itself must not hold up the others. What the operation
 * wrote before it failed is undone. A fault of the disk concerns all rows, and is rethrown.
 */
export async function isolate<T>(tx: Transaction, operation: () => Promise<T>): Promise<Isolated<T>> {
  try {
    return { value: await tx.savepoint(operation) };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    return { error };
  }
}
