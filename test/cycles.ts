/** Finds what imports itself in the end: files, folders or rooms, whichever the names of the edges are. */

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

/** The folder of a file, or of a folder: `.` at the top. */
export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
}

/** The first folder of a path; the files at the top are rooms of their own. */
export function roomOf(path: string): string {
  return path.split('/')[0] ?? path;
}
