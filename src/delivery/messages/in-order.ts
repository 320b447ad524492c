/** The first of many things in order, without sorting those that are not needed. */

/**
 * Yields `things` in order. Each one costs a few comparisons, and all of them together as many as sorting: a digest of
 * 10,000 snitches shows only some hundreds.
 *
 * @param compare negative if the first of the two comes before the other
 */
export function* inOrder<T>(things: Iterable<T>, compare: (one: T, other: T) => number): Generator<T, void> {
  // A binary heap: each element comes before its two children, at twice its place plus one and plus two.
  const heap = [...things];
  for (let place = (heap.length >> 1) - 1; place >= 0; place -= 1) sink(heap, place, compare);
  while (heap.length > 0) {
    const [first] = heap;
    const last = heap.pop() as T;
    if (heap.length > 0) {
      heap[0] = last;
      sink(heap, 0, compare);
    }
    yield first as T;
  }
}

/** Moves what is at `from` down until it comes before what is below it. */
function sink<T>(heap: T[], from: number, compare: (one: T, other: T) => number): void {
  const moved = heap[from] as T;
  let place = from;
  for (let below = 2 * place + 1; below < heap.length; below = 2 * place + 1) {
    const beside = below + 1;
    const next = beside < heap.length && compare(heap[beside] as T, heap[below] as T) < 0 ? beside : below;
    if (compare(moved, heap[next] as T) <= 0) break;
    heap[place] = heap[next] as T;
    place = next;
  }
  heap[place] = moved;
}
