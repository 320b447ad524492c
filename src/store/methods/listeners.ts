import type { Change } from '../change.ts';
import type { Store } from '../store.ts';

/** The listeners for changes, and how to call them. */
export function listeners(): { announce(changes: readonly Change[]): void; onChange: Store['onChange'] } {
  const all: ((change: Change) => void)[] = [];
  return {
    announce: (changes) => {
      for (const change of changes) for (const listener of all) listener(change);
    },
    onChange: (listener) => void all.push(listener),
  };
}
