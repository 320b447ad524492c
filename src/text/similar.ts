/** Finds the words for "Did you mean …?". */

/** How many characters have to be inserted, deleted, replaced or swapped with their neighbour. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[line - 1] === to[column - 1];
      const swapped =
        line > 1 && column > 1 && from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      next[column] = Math.min(
        (next[column - 1] ?? 0) + 1,
        (row[column] ?? 0) + 1,
        (row[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}

/** At most three of `known`, the most similar first; none if nothing is similar enough to have been meant. */
export function similar(given: string, known: Iterable<string>): string[] {
  const wanted = given.toLowerCase();
  const found: { word: string; distance: number }[] = [];
  for (const word of new Set(known)) {
    const lower = word.toLowerCase();
    const limit = Math.max(1, Math.floor(Math.max(lower.length, wanted.length) / 3));
    // Words of very different length cannot be similar, and computing the distance is costly.
    if (Math.abs(lower.length - wanted.length) <= limit) {
      const distance = editDistance(wanted, lower);
      if (distance <= limit) found.push({ word, distance });
    } else if (wanted.length >= 3 && lower.includes(wanted)) {
      found.push({ word, distance: limit + 1 });
    }
  }
  return found
    .sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1))
    .slice(0, 3)
    .map(({ word }) => word);
}

/** ` Did you mean a or b?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const words = similar(given, known);
  return words.length === 0 ? '' : ` Did you mean ${words.join(' or ')}?`;
}
