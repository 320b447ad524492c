/**
 * Cuts a large snitch file into parts that are parsed one after the other, because the tree of a whole file of 200,000
 * entries would take two gigabytes. Only a list in block form can be cut, which is what `snitch export` writes.
 */

export interface FileParts {
  /** The file with an empty list instead of its snitches. All other lines keep their numbers. */
  head: string;
  chunks: readonly Chunk[];
}

/** Some of the entries, preceded by everything before the list, so that they may refer to it. */
export interface Chunk {
  text: string;
  /** The position of its first entry in the whole list. */
  index: number;
  /** From this line of `text` on, lines are `shift` lines further down in the file. */
  from: number;
  shift: number;
}

/** Smaller files are parsed as a whole. */
const SMALL = 256 * 1024;
const ENTRIES_OF_CHUNK = 500;

/** The head is repeated before every chunk, so it must not be long. */
const LONGEST_HEAD = 64 * 1024;

/** Null for a file that is small, or whose list cannot be cut by looking at its lines alone. */
export function partsOf(text: string): FileParts | null {
  if (text.length < SMALL) return null;
  const lines = text.split('\n');
  const keys = lines.flatMap((line, number) => (/^snitches:[ \t]*(?:#.*)?\r?$/.test(line) ? [number] : []));
  const [at, another] = keys;
  if (at === undefined || another !== undefined) return null;
  const first = lines.findIndex((line, number) => number > at && /^ *[^ #\r]/.test(line));
  const indent = /^( *)-(?: |\r?$)/.exec(lines[first] ?? '')?.[1];
  if (indent === undefined) return null;
  const end = endOf(lines, first, indent.length);
  const before = lines.slice(0, at + 1);
  const region = lines.slice(at + 1, end);
  // An entry of another chunk may refer to an anchor within the list.
  const referred = region.some((line) => /(?:^|[\s[{,:-])&[^\s&]/.test(line));
  if (referred || before.join('\n').length > LONGEST_HEAD) return null;
  const blank = region.map(() => '');
  const head = [...before.slice(0, -1), 'snitches: []', ...blank, ...lines.slice(end)].join('\n');
  return { head, chunks: chunksOf(lines, { start: first, end, item: `${indent}-`, before }) };
}

/** The first line after the list: it is indented less than the entries, or as little as the key of the list. */
function endOf(lines: readonly string[], first: number, indent: number): number {
  const end = lines.findIndex((line, number) => {
    if (number <= first || /^\s*(?:#.*)?$/.test(line)) return false;
    const own = line.length - line.trimStart().length;
    return own < indent || (own === 0 && !/^-(?: |\r?$)/.test(line));
  });
  return end < 0 ? lines.length : end;
}

interface Region {
  start: number;
  end: number;
  /** What the first line of an entry begins with. */
  item: string;
  before: readonly string[];
}

function chunksOf(lines: readonly string[], { start, end, item, before }: Region): Chunk[] {
  const chunks: Chunk[] = [];
  let from = start;
  let index = 0;
  let entries = 0;
  const close = (to: number) => {
    const text = [...before, ...lines.slice(from, to)].join('\n');
    chunks.push({ text, index, from: before.length + 1, shift: from - before.length });
    index += entries;
    entries = 0;
    from = to;
  };
  for (let number = start; number < end; number += 1) {
    const line = lines[number] ?? '';
    if (!line.startsWith(item) || !/^(?: |\r?$)/.test(line.slice(item.length))) continue;
    if (entries === ENTRIES_OF_CHUNK) close(number);
    entries += 1;
  }
  close(end);
  return chunks;
}
