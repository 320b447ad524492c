/** Where bugs are planted, and which tests may notice them there. */
import type { TestFile } from '../runner/test-files.ts';

export interface Room {
  /** The folder below `src/`. */
  name: string;
  /** Patterns of its files in which bugs are planted, below `src/`. */
  sources: readonly string[];
  /** Its own tests, and those of rooms that use it and are quick: paths below `test/`. */
  tests: RegExp;
}

/** What needs no other program. */
export const ROOMS: readonly Room[] = [
  { name: 'core', sources: ['core/**/*.ts'], tests: /^(?:core|store|delivery)\// },
  {
    name: 'store',
    // Migrations that have landed are held by their digests, which would notice everything.
    sources: ['store/*.ts', 'store/{methods,operations,sqlite}/**/*.ts'],
    tests: /^(?:store\/(?!postgres\/|move\/)|sweep\/|system\/syncs)/,
  },
  { name: 'delivery', sources: ['delivery/**/*.ts'], tests: /^delivery\// },
  { name: 'text', sources: ['text/**/*.ts'], tests: /^text\// },
];

/** What only runs with PostgreSQL. Many of its tests wait for clusters: those of a folder are tried with its own bugs alone. */
export const POSTGRES_ROOMS: readonly Room[] = [
  ...['store/postgres/changes', 'store/postgres/hosts', 'store/postgres/nodes', 'store/move'].map((name) => ({
    name,
    sources: [`${name}/**/*.ts`],
    tests: new RegExp(`^${name}/`),
  })),
  {
    name: 'store/postgres',
    sources: ['store/postgres/*.ts'],
    // What it does for nodes that died is tried with the nodes.
    tests: /^store\/(?:postgres\/(?:nodes\/)?[^/]+$|(?!sqlite\/|move\/|postgres\/))/,
  },
];

/** The folder that a file is in. */
export function roomOf(file: string, rooms: readonly Room[]): Room | undefined {
  return rooms.find(({ name }) => file.startsWith(`${name}/`));
}

/** Whether a test needs nothing that must be built, and no more of the host than these rooms do. */
export function isRunIn(room: Room, { path, needs, waits, isOnBoth }: TestFile): boolean {
  if (needs !== 'nothing' || !path.endsWith('.ts') || !room.tests.test(path)) return false;
  return POSTGRES_ROOMS.includes(room) ? isOnBoth || isAboutPostgres(path) : !waits;
}

/** Tests that find PostgreSQL themselves, and of which the others need not be told. */
export function isAboutPostgres(path: string): boolean {
  return /^store\/(?:postgres|move)\//.test(path);
}
