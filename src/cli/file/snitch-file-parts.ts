/**
 * Cuts a large snitch file into parts that are parsed one after the other: the tree of a whole file of 200,000 entries
 * would take two gigabytes. What is cut is a list in block form, as `snitch export` writes it.
 */

export interface FileParts {
  /** The file with an empty list in the place of its snitches; every line where it was. */
  head: string;
  chunks: readonly Chunk[];
}

/** Some entries behind what stands before the list, so that they may refer to it. */
export interface Chunk {
  text: string;
  /** Of its first entry among all. */
  index: number;
  /** Lines of `text` from this one on stand `shift` lines further down in the file. */
  from: number;
  shift: number;
}

/** Smaller files are parsed as a whole. */
const SMALL = 256 * 1024;
const ENTRIES_OF_CHUNK = 500;

/** Repeated before every chunk, so that it must not be long. */
const LONGEST_HEAD = 64 * 1024;

/** Null for a file that is small, or whose list cannot be cut by its lines alone. */
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
  // An anchor within the list may be meant by an entry of another chunk.
  const referred = region.some((line) => /(?:^|[\s[{,:-])&[^\s&]/.test(line));
  if (referred || before.join('\n').length > LONGEST_HEAD) return null;
  const blank = region.map(() => '');
  const head = [...before.slice(0, -1), 'snitches: []', ...blank, ...lines.slice(end)].join('\n');
  return { head, chunks: chunksOf(lines, { start: first, end, item: `${indent}-`, before }) };
}

/** The first line behind the list: what is less indented than its entries, or stands beside the list's key. */
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
  /** What a line begins with that begins an entry. */
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
