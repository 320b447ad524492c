/**
 * The one way in which files with secrets are written: never through a link, readable by their owner alone, whole
 * or not at all.
 */

// Asking for `promises` loads them, which commands that write nothing need not wait for.
const node = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

const PRIVATE = 0o600;

/** Who is to own the file; this process, when absent. Only the administrator can give files away. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Makes a file that only its owner can read, and syncs it. What is there already, be it a link that somebody planted,
 * is never opened.
 *
 * @throws the error of the file system, `EEXIST` for a name that is taken; half a file is removed again
 */
export async function createPrivateFile(path: string, text: string, owner?: Owner): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = node.constants;
  const file = await node.promises.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE);
  try {
    // An unusual umask takes rights away from the owner too.
    await file.chmod(PRIVATE);
    if (owner) await file.chown(owner.uid, owner.gid);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await node.promises.rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Puts `text` in the place of a file with secrets, or makes it. When this resolves, a power cut cannot take it;
 * before,
 * it leaves the old file. One writer at a time: whoever calls holds the directory for itself.
 *
 * @throws the error of the file system; then the old file is as it was
 */
export async function replacePrivateFile(path: string, text: string, owner?: Owner): Promise<void> {
  await removeDrafts(path);
  // Nobody can foresee this name, and so put something of their own in its place.
  const draft = `${path}.${process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex')}.new`;
  await createPrivateFile(draft, text, owner);
  try {
    await node.promises.rename(draft, path);
  } catch (error) {
    await node.promises.rm(draft, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** A crash leaves its draft, which has secrets in it that may not be good any more. */
async function removeDrafts(path: string): Promise<void> {
  const name = basename(path);
  for (const found of await node.promises.readdir(dirname(path))) {
    if (!found.startsWith(`${name}.`) || !/^\.[0-9a-f]{32}\.new$/.test(found.slice(name.length))) continue;
    await node.promises.rm(join(dirname(path), found), { force: true });
  }
}

/** Makes names that were given or taken away in a directory outlast a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await node.promises.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
