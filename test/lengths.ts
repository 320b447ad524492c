/** The lengths of functions and files of the source, in lines. */
import { readFileSync } from 'node:fs';
import { ts } from '@ts-morph/common';

export interface Length {
  /** `file:line name`, or the file alone. */
  what: string;
  lines: number;
}

/** The file at `path` and every function in it, nested ones included; named as `file`. */
export function lengthsOf(file: string, path: string): Length[] {
  const text = readFileSync(path, 'utf8');
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const lengths: Length[] = [{ what: file, lines: text.trimEnd().split('\n').length }];
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const from = lineAt(node.getStart());
      const name = node.name?.getText() ?? 'a function without a name';
      lengths.push({ what: `${file}:${from} ${name}`, lines: lineAt(node.end) - from + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lengths;
}
