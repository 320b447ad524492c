/** The pages that people read, taken apart: blocks, code within the text, links and headings. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Block {
  /** The info string of the fence; '' for a block that no test runs. */
  language: string;
  text: string;
  /** The line of its fence, from 1. */
  line: number;
}

export interface Page {
  /** From the root of the project. */
  path: string;
  text: string;
  blocks: readonly Block[];
  /** Without blocks. */
  prose: string;
  /** `code` in the prose, with single spaces. */
  inline: readonly string[];
  headings: readonly Heading[];
  links: readonly string[];
}

export interface Heading {
  level: number;
  text: string;
  anchor: string;
}

/** README.md, CONTRIBUTING.md and all of docs/. */
export function pages(): Page[] {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`).sort()].map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const { blocks, prose } = divide(text, path);
  const withoutCode = prose.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length));
  return {
    path,
    text,
    blocks,
    prose,
    inline: [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' ').trim()),
    headings: headingsIn(prose),
    links: [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
  };
}

function divide(text: string, path: string): { blocks: Block[]; prose: string } {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: Block | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence && open === null) open = { language: fence[1] ?? '', text: '', line: index + 1 };
    else if (fence && open !== null) {
      blocks.push(open);
      open = null;
    } else if (open !== null) open.text += `${line}\n`;
    else prose.push(line);
  }
  if (open !== null) throw new Error(`${path}:${open.line}: the block does not end`);
  return { blocks, prose: prose.join('\n') };
}

/** Anchors as GitHub and others make them: only letters, digits, underscores and hyphens. */
function headingsIn(prose: string): Heading[] {
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^(#{1,6}) (.+)$/gm)].map(([, marks = '', title = '']) => {
    const text = title.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
    const anchor = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return { level: marks.length, text, anchor: count === 0 ? anchor : `${anchor}-${count}` };
  });
}
