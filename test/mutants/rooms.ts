/** Where bugs are planted, and which tests may notice them there. */
import type { TestFile } from '../runner/test-files.ts';

export interface Room {
  /** The folder below `src/`. */
  name: string;
  /** Patterns of its files in which bugs are planted, below `src/`. */
  sources: readonly string[];
  /** Its own tests, and those of rooms that use it: paths below `test/`. */
  tests: RegExp;
}

/** The server uses all of them: its quick tests are tried last, with bugs that the others missed. */
export const LAST = /^http\//;

/** Rooms whose tests need no other program. */
export const ROOMS: readonly Room[] = [
  { name: 'core', sources: ['core/**/*.ts'], tests: /^(?:core|store|delivery|http)\// },
  {
    name: 'store',
    // Migrations that have landed are protected by their digests, which would notice every change.
    sources: ['store/*.ts', 'store/{methods,operations,sqlite}/**/*.ts'],
    tests: /^(?:store\/(?!postgres\/|move\/)|sweep\/|http\/|system\/syncs)/,
  },
  { name: 'delivery', sources: ['delivery/**/*.ts'], tests: /^delivery\// },
  { name: 'text', sources: ['text/**/*.ts'], tests: /^text\// },
];

/**
 * Code that only runs with PostgreSQL. Many of its tests wait for clusters, so bugs are tried with those of their
 * folder.
 */
export const POSTGRES_ROOMS: readonly Room[] = [
  ...['store/postgres/changes', 'store/postgres/hosts', 'store/postgres/nodes', 'store/move'].map((name) => ({
    name,
    sources: [`${name}/**/*.ts`],
    tests: new RegExp(`^${name}/`),
  })),
  {
    name: 'store/postgres',
    sources: ['store/postgres/*.ts'],
    // What it does for nodes that died is tested with the nodes.
    tests: /^store\/(?:postgres\/(?:nodes\/)?[^/]+$|(?!sqlite\/|move\/|postgres\/))/,
  },
];

/** The folder that a file is in. */
export function roomOf(file: string, rooms: readonly Room[]): Room | undefined {
  return rooms.find(({ name }) => file.startsWith(`${name}/`));
}

/** Whether a test belongs to the room, needs nothing built, and needs no more of the host than the other tests. */
export function isRunIn(room: Room, { path, needs, waits, isOnBoth, isSlow }: TestFile): boolean {
  if (needs !== 'nothing' || !path.endsWith('.ts') || !room.tests.test(path)) return false;
  if (isSlow && LAST.test(path)) return false;
  return POSTGRES_ROOMS.includes(room) ? isOnBoth || isAboutPostgres(path) : !waits;
}

/** Whether a test finds PostgreSQL itself, and does not need SNITCH_TEST_STORE. */
export function isAboutPostgres(path: string): boolean {
  return /^store\/(?:postgres|move)\//.test(path);
}
