/** Makes directories. */
import { syncNow } from './private-file.ts';

const { mkdirSync, statSync } = process.getBuiltinModule('node:fs');
const { dirname } = process.getBuiltinModule('node:path');

/**
 * Makes a directory for its owner alone, and those above it that are missing. Node's own way never ends where a file
 * system says of a new name that its parent is missing, as /proc and automounted directories do.
 *
 * @throws the error of the file system
 */
export function makePrivateDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  // What stands in the way there is told by the call below, with the name that was asked for.
  if (parent !== path && !exists(parent)) makePrivateDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
    keepName(parent);
  } catch (error) {
    // Somebody else was faster.
    if (!isDirectory(path)) throw error;
  }
}

/** What is put into the new directory outlasts a power cut only with the directory. */
function keepName(parent: string): void {
  try {
    syncNow(parent);
  } catch {
    // Who may write into a directory may not always read it, and not every file system syncs one.
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
