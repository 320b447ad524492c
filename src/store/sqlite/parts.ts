/**
 * Work that takes long before the store is open, and that occupies the only thread, is done in parts. Between two parts
 * a signal can be handled, which otherwise waits until everything is done.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Somebody stopped the start before the database was open. */
export class OpeningStopped extends Error {
  override readonly name = 'OpeningStopped';

  constructor() {
    super(
      'stopped before the database was open: it was not changed, and the next start begins again with whatever was under way',
    );
  }
}

/** Does all of it at once. */
export function finished<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** @throws OpeningStopped if `signal` is aborted before everything is done; what the work began is then undone */
export async function finishedUnlessStopped<T>(work: Generator<void, T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
    if (!signal.aborted) continue;
    // Leaves the work through its `finally`, wherever it is.
    work.return(undefined as never);
    throw new OpeningStopped();
  }
}
