/** The program of a later release: built by the project's own build from a copy of its source that knows one migration more. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Kind } from '../../src/store/migrations/migration.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'build', 'build.mjs', 'package.json', 'packaging/licenses', 'LICENSE'];

export interface Release {
  version: string;
  kind: Kind;
  /** SQL. */
  change: string;
}

/** A tree of sources, and what was built from it. */
export interface LaterProgram {
  directory: string;
  /** How it is called. */
  program: string[];
  version: string;
  /** Of the database that it makes. */
  schemaVersion: number;
}

/** The sources of this tree. */
export const PRESENT = { directory: ROOT };

/** @param directory does not exist yet */
export async function buildLater(
  before: Pick<LaterProgram, 'directory'>,
  directory: string,
  { version, kind, change }: Release,
): Promise<LaterProgram> {
  mkdirSync(join(directory, 'packaging'), { recursive: true });
  for (const name of COPIED) cpSync(join(before.directory, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const schemaVersion = appendMigration(join(directory, 'src/store/migrations'), { kind, change });
  setVersion(join(directory, 'package.json'), version);
  await promisify(execFile)(process.execPath, ['build.mjs'], { cwd: directory });
  return {
    directory,
    program: [process.execPath, join(directory, 'dist/snitch.mjs')],
    version,
    schemaVersion,
  };
}

/** As CONTRIBUTING says: a file with the next number, at the end of the list. */
function appendMigration(directory: string, migration: Omit<Release, 'version'>): number {
  const number = readdirSync(directory).filter((name) => /^\d{4}_/.test(name)).length + 1;
  const name = `${String(number).padStart(4, '0')}_later.ts`;
  writeFileSync(
    join(directory, name),
    `import type { Migration } from './migration.ts';\nexport const later: Migration = ${JSON.stringify(migration)};\n`,
  );
  const index = join(directory, 'index.ts');
  const list = readFileSync(index, 'utf8').replace(/\n\];\n$/, `\n  later${number},\n];\n`);
  writeFileSync(index, `import { later as later${number} } from './${name}';\n${list}`);
  return number;
}

function setVersion(file: string, version: string): void {
  const described = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...described, version }));
}
