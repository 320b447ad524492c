/** Which code each test file runs, by V8's counters: a bug is only tried with tests that run its place. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Range {
  startOffset: number;
  endOffset: number;
  count: number;
}

interface Script {
  url: string;
  functions: { ranges: Range[] }[];
}

/** For each source file, the ranges that each process of the test counted. */
export type Coverage = Map<string, Range[][]>;

/** Reads what the processes of one test left in `directory`, and removes it. */
export function readCoverage(directory: string, tree: string): Coverage {
  const base = `${pathToFileURL(join(tree, 'src')).href}/`;
  const coverage: Coverage = new Map();
  for (const name of readdirSync(directory)) {
    const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as { result: Script[] };
    for (const { url, functions } of result) {
      if (!url.startsWith(base)) continue;
      const file = decodeURIComponent(url.slice(base.length)).replace(/\?.*$/, '');
      const ranges = functions.flatMap((one) => one.ranges);
      coverage.set(file, [...(coverage.get(file) ?? []), ranges]);
    }
  }
  rmSync(directory, { recursive: true });
  return coverage;
}

/** V8's ranges nest: the smallest one around a place says how often it ran. */
export function runs(coverage: Coverage, file: string, place: number): boolean {
  return (coverage.get(file) ?? []).some((ranges) => {
    let smallest: Range | undefined;
    for (const range of ranges) {
      if (range.startOffset > place || range.endOffset <= place) continue;
      const length = range.endOffset - range.startOffset;
      if (!smallest || length <= smallest.endOffset - smallest.startOffset) smallest = range;
    }
    return (smallest?.count ?? 0) > 0;
  });
}

/** How much of a file ran: the number of its ranges that were executed by any process. */
export function extentOf(coverage: Coverage, file: string): number {
  const ran = (coverage.get(file) ?? []).flat().filter(({ count }) => count > 0);
  return new Set(ran.map(({ startOffset, endOffset }) => `${startOffset} ${endOffset}`)).size;
}
