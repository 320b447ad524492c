/** Finds import cycles among files or folders, whichever the edges name. */

/** @returns the knots, each with all that belongs to it in alphabetical order (Tarjan's algorithm) */
export function cyclesAmong(edges: Iterable<readonly [from: string, to: string]>): string[][] {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    const next = graph.get(from) ?? new Set();
    graph.set(from, next);
    if (!graph.has(to)) graph.set(to, new Set());
    if (from !== to) next.add(to);
  }
  const order = new Map<string, number>();
  const open: string[] = [];
  const knots: string[][] = [];
  const visit = (name: string): number => {
    let low = order.size;
    order.set(name, low);
    open.push(name);
    for (const next of graph.get(name) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === order.get(name)) {
      const knot = open.splice(open.indexOf(name));
      if (knot.length > 1) knots.push(knot.sort());
    }
    return low;
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return knots;
}

/**
 * Where two files part ways: in the innermost folder that has both, the folder that each of them is in. `cli/.` stands
 * for the files that are in `cli` itself. If these parts have no circle, then neither have the folders, however deep.
 */
export function partsOf(from: string, to: string): readonly [from: string, to: string] {
  const [one, other] = [from.split('/'), to.split('/')];
  const shared = one.findIndex((name, depth) => name !== other[depth] || depth === one.length - 1);
  const partOf = (names: readonly string[]) =>
    [...names.slice(0, shared), names.length > shared + 1 ? names[shared] : '.'].join('/');
  return [partOf(one), partOf(other)];
}
