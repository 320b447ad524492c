/** Loads of what is shown that follow each other, not run beside each other. */

/**
 * The time between two loads of the same thing, in milliseconds. A busy case changes many times a second, and a key may
 * make 600 requests a minute.
 */
const BETWEEN_LOADS = 2_000;

/**
 * Runs `load` once at a time for a key, and not too often. If it is called meanwhile, it runs again afterwards. Another
 * key does not have to wait.
 */
export function latest(load: (key: string) => Promise<void>): (key: string) => void {
  let present: { key: string; again: boolean } | null = null;
  const start = async (key: string): Promise<void> => {
    const mine = { key, again: false };
    present = mine;
    await load(key);
    setTimeout(() => {
      if (present !== mine) return;
      present = null;
      if (mine.again) void start(key);
    }, BETWEEN_LOADS).unref();
  };
  return (key) => {
    if (present?.key === key) present.again = true;
    else void start(key);
  };
}
