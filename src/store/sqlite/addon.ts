/** SQLite's native addon. In the single executable it is part of the program, but the loader needs a file. */
import { closeSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { createMemoryFile } from '../../system/libc.ts';

const ASSET = 'better_sqlite3.node';

/** The addon could not be loaded from anywhere; the message says what to do. */
export class AddonUnusable extends Error {
  override readonly name = 'AddonUnusable';
}

/**
 * The loader's error if a library of the host lacks a version, and the versions that the addon needs. docs/install.md
 * names them too.
 */
const TOO_OLD = /version `(GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found/;
const C_LIBRARY = 'glibc 2.34';
const CPP_LIBRARY = 'the libstdc++ of GCC 11';

/** Opens a database file; the options and errors are those of better-sqlite3. */
export function openFile(path: string, options: Database.Options = {}): Database.Database {
  const binding = nativeBinding();
  // The type knows only the path of an addon; the library also accepts a loaded one.
  return new Database(path, binding ? { ...options, nativeBinding: binding as unknown as string } : options);
}

/** An addon, and the name by which the loader knows its file. */
export interface Loaded {
  addon: object;
  file: string;
}

let loaded: Loaded | null = null;

/** Null outside the executable: there the library finds its addon on its own. */
function nativeBinding(): object | null {
  if (!isSea()) return null;
  loaded ??= loadAddon(new Uint8Array(getRawAsset(ASSET)), process.env);
  return loaded.addon;
}

/**
 * The name by which another thread must load the addon to get the very same SQLite. The file may no longer exist, but
 * the loader still knows the name. Null if the library finds the addon on its own, as it does from sources.
 */
export function addonFile(): string | null {
  if (isSea()) return loaded?.file ?? null;
  const beside = fileURLToPath(new URL(`./${ASSET}`, import.meta.url));
  return existsSync(beside) ? beside : null;
}

/**
 * Loads it from a file in memory, which needs no directory, knows no `noexec`, and is gone with the process. If the
 * kernel refuses that, from a private file that exists no longer than loading takes.
 *
 * @throws AddonUnusable
 */
export function loadAddon(content: Uint8Array, env: NodeJS.ProcessEnv): Loaded {
  const refusals: string[] = [];
  for (const load of [loadFromMemory, ...directories(env).map(loaderFrom)]) {
    try {
      return load(content);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const [, library] = TOO_OLD.exec(message) ?? [];
      if (library) throw tooOld(library === 'GLIBC' ? C_LIBRARY : CPP_LIBRARY, message);
      refusals.push(message);
    }
  }
  throw new AddonUnusable(
    `SQLite could not be loaded: give a directory that may hold programs (no noexec) in TMPDIR. Tried: ${refusals.join('; ')}`,
  );
}

/** No other directory would help. Node itself needs less than the addon, so the program got this far. */
function tooOld(needed: string, message: string): AddonUnusable {
  return new AddonUnusable(
    `SQLite could not be loaded, because the libraries of this host are too old: Snitch needs ${needed} or later, as Debian 12 and Ubuntu 24.04 have. The system says: ${message}`,
  );
}

/** The descriptor stays open if loading succeeds: its number is part of the name by which others load it again. */
function loadFromMemory(content: Uint8Array): Loaded {
  const fd = createMemoryFile(ASSET);
  try {
    writeFileSync(fd, content);
    return loadFile(`/proc/self/fd/${fd}`);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Each process has a directory of its own, so that two versions never meet in one. */
function loaderFrom(directory: string): (content: Uint8Array) => Loaded {
  return (content) => {
    const own = mkdtempSync(join(directory, 'snitch-'));
    try {
      const file = join(own, ASSET);
      writeFileSync(file, content, { mode: 0o700 });
      return loadFile(file);
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  };
}

function loadFile(file: string): Loaded {
  const addon = { exports: {} };
  process.dlopen(addon, file);
  return { addon: addon.exports, file };
}

/** The directories that the service manager gave, those of the user, and the one for everybody. */
function directories(env: NodeJS.ProcessEnv): string[] {
  const given = [env.RUNTIME_DIRECTORY?.split(':')[0], env.STATE_DIRECTORY?.split(':')[0]];
  const own = [env.XDG_RUNTIME_DIR, env.SNITCH_DATA_DIR, env.HOME];
  return [...given, ...own, tmpdir()].filter(
    (directory) => directory !== undefined && directory !== '',
  ) as string[];
}
