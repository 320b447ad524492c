/** Asks now and then whether the alerts of the case reach anybody. */
import type { Client } from '../../api/client.ts';
import { unreachedInWords } from '../../core/explanation/reach.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Store } from './store.ts';

const NAMED = 3;

/**
 * The pause is at least this many times as long as the answer took, so that a server that has to check very many
 * snitches is asked less often.
 */
const REST = 20;

export interface ReachParts {
  client: Pick<Client, 'getAudience'>;
  store: Pick<Store, 'dispatch'>;
  /** Between two questions, in milliseconds. */
  every?: number;
}

/** @returns a function that stops it */
export function watchReach({ client, store, every = MINUTE }: ReachParts): () => void {
  let ended = false;
  let timer: NodeJS.Timeout | null = null;
  const ask = async (): Promise<void> => {
    const began = performance.now();
    try {
      const { unreached, nobody } = await client.getAudience(NAMED);
      const words = unreached ? unreachedInWords(unreached, nobody ?? '') : null;
      if (!ended) store.dispatch({ kind: 'reach', nobody: words });
    } catch {
      // If the server cannot be reached, the feed says so. What was known last stays on the screen.
    }
    const pause = Math.max(every, REST * (performance.now() - began));
    if (!ended) timer = setTimeout(() => void ask(), pause).unref();
  };
  void ask();
  return () => {
    ended = true;
    if (timer) clearTimeout(timer);
  };
}
