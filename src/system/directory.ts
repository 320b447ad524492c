/** Makes directories. */
import { syncNow } from './private-file.ts';

const { mkdirSync, statSync } = process.getBuiltinModule('node:fs');
const { dirname } = process.getBuiltinModule('node:path');

/**
 * Makes a directory that only its owner may use, and those above it that are missing. Node's recursive `mkdir` never
 * ends if a file system reports a missing parent for a new name, as /proc and automounted directories do.
 *
 * @throws the error of the file system
 */
export function makePrivateDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  // If the parent is not a directory, the call below fails with the requested path.
  if (parent !== path && !exists(parent)) makePrivateDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
    keepName(parent);
  } catch (error) {
    // Another process may have made it first.
    if (!isDirectory(path)) throw error;
  }
}

/** After a power cut, what is in the new directory can only be found if the directory itself survived. */
function keepName(parent: string): void {
  try {
    syncNow(parent);
  } catch {
    // A directory that can be written cannot always be read, and not every file system can sync one.
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
