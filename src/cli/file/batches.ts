/** Sends many snitches in few requests, each within the limits of the server. */

/** Limits of one request. The bytes leave room for what surrounds the snitches. */
const LARGEST_BATCH = 500;
const LARGEST_BODY = 60_000;

/** How many snitches every server accepts at once, however old it is. */
const SMALL_BATCH = 100;

/** Consecutive parts, each small enough for one request. */
export function batchesOf<T>(items: readonly T[], most = SMALL_BATCH): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    const last = batches.at(-1);
    if (last && last.length < most && bytes + size <= LARGEST_BODY) {
      last.push(item);
      bytes += size;
    } else {
      batches.push([item]);
      bytes = size;
    }
  }
  return batches;
}

/**
 * Sends `items` in batches that are as large as possible, one after the other. A server that accepts fewer refuses the
 * first batch as a whole, and then gets smaller ones.
 */
export async function inBatches<T>(
  items: readonly T[],
  send: (batch: T[]) => Promise<unknown>,
): Promise<void> {
  let most = LARGEST_BATCH;
  for (let rest = items; rest.length > 0; ) {
    const [batch = []] = batchesOf(rest.slice(0, most), most);
    try {
      await send(batch);
      rest = rest.slice(batch.length);
    } catch (error) {
      if (most === SMALL_BATCH || !takesFewer(error)) throw error;
      most = SMALL_BATCH;
    }
  }
}

function takesFewer(error: unknown): boolean {
  const { status, body } = error as { status?: number; body?: { validations?: { attribute: string }[] } };
  return status === 422 && body?.validations?.[0]?.attribute === 'snitches';
}

/** Like `inBatches`, but a server that is too old for such requests gets the items one by one. */
export async function inBatchesOrOneByOne<T>(
  items: readonly T[],
  send: (batch: T[]) => Promise<unknown>,
  one: (item: T) => Promise<unknown>,
): Promise<void> {
  await inBatches(items, async (batch) => {
    try {
      await send(batch);
    } catch (error) {
      const { status } = error as { status?: number };
      if (status !== 404 && status !== 405) throw error;
      for (const item of batch) await one(item);
    }
  });
}
