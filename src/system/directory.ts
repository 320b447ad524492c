/** Makes directories. */
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
  // If the parent is no directory, the call below fails with the path that was asked for.
  if (parent !== path && !exists(parent)) makePrivateDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if (!isDirectory(path)) throw error;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
