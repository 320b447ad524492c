/**
 * The only way in which files with secrets are written: never through a link, readable only by their owner, and either
 * whole or not at all.
 */

// `promises` is loaded on first use, and commands that write nothing should not have to wait for it.
const node = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

const PRIVATE = 0o600;

/** Who will own the file; the user of this process when absent. Only root can give files away. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Makes a file that only its owner can read, and syncs it. An existing file is never opened, nor a link that somebody
 * planted.
 *
 * @throws the error of the file system, `EEXIST` if the name is taken; a file that is incomplete is removed again
 */
export async function createPrivateFile(path: string, text: string, owner?: Owner): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = node.constants;
  const file = await node.promises.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE);
  try {
    // An unusual umask could take rights away from the owner.
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
 * Replaces a file with secrets, or makes it. Once this resolves, the new file survives a power cut; until then a power
 * cut leaves the old one. Only one process at a time may write: the caller must have the directory to itself.
 *
 * @throws the error of the file system; then the old file is as it was
 */
export async function replacePrivateFile(path: string, text: string, owner?: Owner): Promise<void> {
  await removeDrafts(path);
  // Nobody can predict this name and put something of their own in its place.
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

/** Removes drafts that a crash has left behind, because they hold secrets. */
async function removeDrafts(path: string): Promise<void> {
  const name = basename(path);
  for (const found of await node.promises.readdir(dirname(path))) {
    if (!found.startsWith(`${name}.`) || !/^\.[0-9a-f]{32}\.new$/.test(found.slice(name.length))) continue;
    await node.promises.rm(join(dirname(path), found), { force: true });
  }
}

/** Makes sure that names added to a directory, or removed from it, survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await node.promises.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
