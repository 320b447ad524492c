import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the source. */
export const SRC = fileURLToPath(new URL('../src', import.meta.url));

export interface Import {
  /** The file that imports, relative to src/. */
  from: string;
  /** The imported file, relative to src/, or package. */
  to: string;
  kind: 'static' | 'dynamic' | 'type';
}

/** An import or re-export that begins at the start of a line and can span several. */
const STATIC = /^(?:import|export)\s+(?<type>type\s)?(?:[^'"();=]*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*(?:(?<quote>['"])(?<specifier>[^'"]+)\k<quote>)?/g;

export function sourceFiles(): string[] {
  return globSync('**/*.{ts,tsx}', { cwd: SRC }).sort();
}

export function importsOf(from: string): Import[] {
  const text = readFileSync(join(SRC, from), 'utf8');
  const found: Import[] = [];
  for (const { groups } of text.matchAll(STATIC)) {
    found.push({ from, to: target(from, groups?.specifier), kind: groups?.type ? 'type' : 'static' });
  }
  for (const { groups } of text.matchAll(DYNAMIC)) {
    found.push({ from, to: target(from, groups?.specifier), kind: 'dynamic' });
  }
  return found;
}

export function allImports(): Import[] {
  return sourceFiles().flatMap(importsOf);
}

function target(from: string, specifier = 'computed at run time'): string {
  return specifier.startsWith('.') ? relative(SRC, join(SRC, dirname(from), specifier)) : specifier;
}
