/** Which test files there are, and what each needs before it can run: found in the files themselves, not in a list. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

export const TEST = normalize(join(import.meta.dirname, '..'));

/**
 * What must be built first: nothing, the bundle `dist/snitch.mjs`, the single executable `dist/snitch`, or also the
 * one for another architecture, `dist/snitch-arm64`.
 */
export type Needs = 'nothing' | 'bundle' | 'executable' | 'foreign executable';

export interface TestFile {
  /** Below `test/`. */
  path: string;
  needs: Needs;
  /** Waits in real time more than it computes, so others can run beside it. */
  waits: boolean;
  /** Seconds after which it counts as hanging. */
  limitS: number;
  /** It says `Not with --fast`, because it starts programs, waits, or computes for longer than people do. */
  isSlow: boolean;
  /**
   * It can share a process with others, one after the other: it is quick, or shares a daemon with them, and changes
   * nothing in the process.
   */
  sharesProcess: boolean;
  /** It writes to a disk, even if the others write to memory. */
  isOnDisk: boolean;
  /** It is run on PostgreSQL as well: tests of the store's contract, and those that say `Also on PostgreSQL.` */
  isOnBoth: boolean;
}

/** Seconds for a file that declares no limit of its own with a comment such as `Time limit: 180 s.` */
const LIMIT_S = 60;

/** Expensive tests that have little to do with the store say `Also on PostgreSQL with CHAOS=full.` */
const ON_BOTH =
  process.env.CHAOS === 'full' ? /\bAlso on PostgreSQL(?: with CHAOS=full)?\./ : /\bAlso on PostgreSQL\./;

const TIME_LIMIT = /\bTime limit: (\d+) s\b/;

/** Whole folders of tests that run the built program, or other programs of the host, against its clock. */
const WAITING = /^(?:end-to-end|chaos|monitoring|packaging|store\/postgres|store\/move)\//;

/** Those that measure the disk, that build what is too large for the memory, and files that say `On the disk.` */
const DISK_ROOMS = /^(?:bench|packaging)\//;
const ON_DISK = /\bOn the disk\./;

const SLOW = /\bNot with --fast\b/;

/** A browser, which tests in several folders start, is such a program too. */
const BROWSER = /\bfrom '[^']*\/chromium\.ts'/;

/**
 * State that exists once in a process, or is counted for the whole of it. A file that uses any of it, even if it
 * restores it, runs in a process of its own; so does one that says `Alone in its process.`
 */
const OF_THE_PROCESS =
  /\bAlone in its process\.|\bprocess\.(?:env\.\w+ =|chdir|umask|set\w+|(?:cpu|memory|resource)Usage|on\(|once\(|exit)|\bglobalThis\.|\bregisterHooks\b|\bsyncBuiltin|\bmock\.|\/proc\/self\b|\bgc\(/;

/** Files that share a daemon with others, which saves more time than running them alone. */
const SHARES_A_DAEMON = /\bwithCase\(/;

/** Tests of the store in general: not about one of the two databases, nor about moving between them. */
const CONTRACT = /^store\/(?!sqlite\/|postgres\/|move\/)/;

/**
 * All test files, or those whose path below `test/` one of `patterns` matches.
 *
 * @throws SyntaxError if a pattern is not a regular expression
 */
export function testFiles(patterns: readonly string[]): TestFile[] {
  const wanted = patterns.map((pattern) => new RegExp(pattern.replace(/^(?:\.\/)?test\//, '')));
  return globSync('**/*.test.{ts,tsx}', { cwd: TEST })
    .filter((path) => wanted.length === 0 || wanted.some((pattern) => pattern.test(path)))
    .sort()
    .map(describe);
}

function describe(path: string): TestFile {
  const text = readFileSync(join(TEST, path), 'utf8');
  const limit = TIME_LIMIT.exec(text)?.[1];
  const loaded = loadedBy(path);
  const needs = needsOf(loaded);
  const waits = WAITING.test(path) || BROWSER.test(text);
  const isQuick = limit === undefined || SHARES_A_DAEMON.test(text);
  const isPlain = (needs === 'nothing' || needs === 'bundle') && !waits && isQuick && path.endsWith('.ts');
  return {
    path,
    needs,
    waits,
    limitS: limit === undefined ? LIMIT_S : Number(limit),
    isSlow: SLOW.test(text),
    sharesProcess: isPlain && !OF_THE_PROCESS.test(text),
    isOnDisk: DISK_ROOMS.test(path) || ON_DISK.test(text),
    isOnBoth: ON_BOTH.test(text) || (CONTRACT.test(path) && loaded.has('store/acting.ts')),
  };
}

/** The texts of a file and of all test files that it imports. */
function loadedBy(path: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(path)) return seen;
  const text = readFileSync(join(TEST, path), 'utf8');
  seen.set(path, text);
  for (const [, imported = ''] of text.matchAll(/\bfrom '(\.[^']+\.tsx?)'/g)) {
    const own = join(path, '..', imported);
    // An import in a text that the test only writes to a file does not count.
    if (!own.startsWith('..') && existsSync(join(TEST, own))) loadedBy(own, seen);
  }
  return seen;
}

function needsOf(loaded: Map<string, string>): Needs {
  const texts = [...loaded].filter(([path]) => !path.startsWith('runner/')).map(([, text]) => text);
  if (texts.some((text) => /dist\/snitch-arm64\b/.test(text))) return 'foreign executable';
  if (texts.some((text) => /dist\/snitch(?![\w.])/.test(text))) return 'executable';
  // Tests only mention the places where people install it, such as `/usr/bin`.
  return texts.some((text) => /dist\/snitch\.mjs|(?<!\/usr\/|\/local\/)bin\/snitch\b/.test(text))
    ? 'bundle'
    : 'nothing';
}
