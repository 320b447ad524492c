/** Bugs in the SQL of a source file: a condition that is dropped, a boundary, an order that is reversed. */
import { ts } from '@ts-morph/common';

interface Edit {
  start: number;
  end: number;
  replacement: string;
}

const STATEMENT = /\b(?:SELECT|UPDATE|DELETE FROM|INSERT INTO|WHERE)\b/;

/** What ends the conditions of a WHERE, besides a closing parenthesis. */
const END =
  /^(?:ORDER BY|GROUP BY|LIMIT|RETURNING|UNION|ON CONFLICT|DO UPDATE|FOR (?:NO KEY )?UPDATE|FOR (?:KEY )?SHARE|SET|FROM|WHERE)\b/;

const SWAPS: readonly [RegExp, string][] = [
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ DESC\b/g, ' ASC'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
];

export function sqlMutations(node: ts.Node, source: ts.SourceFile): Edit[] {
  const isText = ts.isStringLiteral(node) || ts.isTemplateExpression(node);
  if (!isText && !ts.isNoSubstitutionTemplateLiteral(node)) return [];
  const text = node.getText(source);
  if (!STATEMENT.test(text)) return [];
  const start = node.getStart(source);
  return [...droppedConditions(text), ...swapped(text)].map((edit) => ({
    start: start + edit.start,
    end: start + edit.end,
    replacement: edit.replacement,
  }));
}

function swapped(text: string): Edit[] {
  const blank = text.replace(/\$\{[^}]*\}/g, (part) => '~'.repeat(part.length));
  return SWAPS.flatMap(([pattern, replacement]) =>
    [...blank.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      start: index,
      end: index + length,
      replacement,
    })),
  );
}

/** Each condition becomes one that is always true. Its parameters stay, so that their number still fits. */
function droppedConditions(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { index } of text.matchAll(/\bWHERE\s+/g)) {
    for (const [start, end] of conditionsAt(text, index + 'WHERE'.length)) {
      edits.push({ start, end, replacement: `(TRUE OR (${text.slice(start, end)}))` });
    }
  }
  return edits;
}

/** The start and end of each condition that AND joins, at the level of the WHERE that ends at `from`. */
function conditionsAt(text: string, from: number): [number, number][] {
  const found: [number, number][] = [];
  let depth = 0;
  let start = from;
  let isBetween = false;
  const close = (end: number) => {
    const lead = /^\s*/.exec(text.slice(start, end))?.[0].length ?? 0;
    const trimmed = text.slice(start, end).trim();
    if (trimmed !== '') found.push([start + lead, start + lead + trimmed.length]);
  };
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? '';
    const rest = text.slice(at, at + 20);
    const isWord = depth === 0 && /\W/.test(text[at - 1] ?? '');
    if (depth === 0 && (/[)'`;]/.test(char) || (isWord && END.test(rest)))) {
      // A quote within the statement begins an SQL string; what follows is not worth parsing.
      close(at);
      return char === "'" && text[0] !== "'" ? [] : found;
    }
    if (/[({]/.test(char)) depth += 1;
    if (/[)}]/.test(char)) depth -= 1;
    if (isWord && rest.startsWith('BETWEEN ')) isBetween = true;
    if (!isWord || !/^AND\s/.test(rest)) continue;
    if (!isBetween) {
      close(at);
      start = at + 'AND'.length;
    }
    isBetween = false;
  }
  return found;
}
