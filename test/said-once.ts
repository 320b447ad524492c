/** Functions that are written more than once, to the letter. */
import { readFileSync } from 'node:fs';
import { ts } from '@ts-morph/common';

/** In characters without superfluous blanks. Shorter ones are often the same by chance. */
const WORTH_SHARING = 70;

/**
 * @param files their paths by the names that are shown
 * @returns each function that is written in several places, as `file:line name` of each
 */
export function writtenTwice(files: ReadonlyMap<string, string>): string[][] {
  const places = new Map<string, string[]>();
  for (const [name, path] of files) {
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    for (const node of source.statements) {
      if (!ts.isFunctionDeclaration(node) || !node.body) continue;
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const code = node.getText().slice(node.getText().indexOf('('));
      const text = code.replace(/\s+/g, ' ');
      if (text.length < WORTH_SHARING) continue;
      places.set(text, [...(places.get(text) ?? []), `${name}:${line + 1} ${node.name?.text}`]);
    }
  }
  return [...places.values()].filter((found) => found.length > 1);
}
