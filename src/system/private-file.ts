/**
 * The only way in which private files are written: never through a link, readable only by their owner, and either whole
 * or not at all. Functions whose names end in `Now` block the event loop: they are for commands and starts during which
 * nothing else goes on, and for files that SQLite fills.
 */

// `promises` is loaded on first use, and commands that write nothing should not have to wait for it.
const node = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

const PRIVATE = 0o600;

/** How much is copied at once, in bytes. */
const CHUNK = 1 << 20;

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
 * Makes a private file as `createPrivateFile` does, before it returns.
 *
 * @param text absent if somebody else fills the file and syncs it
 * @throws the error of the file system, `EEXIST` if the name is taken; a file that is incomplete is removed again
 */
export function createPrivateFileNow(path: string, text?: string | Buffer): void {
  fillNow(path, (fd) => {
    if (text === undefined) return;
    node.writeFileSync(fd, text);
    node.fsyncSync(fd);
  });
}

/**
 * Copies a file of any size to a new private file. The copy is not synced, because the caller still changes it.
 *
 * @throws the error of the file system, `EEXIST` if the name is taken; a copy that is incomplete is removed again
 */
export function copyToPrivateFileNow(from: string, path: string): void {
  const source = node.openSync(from, 'r');
  try {
    fillNow(path, (fd) => {
      const buffer = Buffer.allocUnsafe(CHUNK);
      for (let length = 1; length > 0; ) {
        length = node.readSync(source, buffer);
        for (let at = 0; at < length; ) at += node.writeSync(fd, buffer, at, length - at);
      }
    });
  } finally {
    node.closeSync(source);
  }
}

function fillNow(path: string, fill: (fd: number) => void): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = node.constants;
  const fd = node.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE);
  try {
    node.fchmodSync(fd, PRIVATE);
    fill(fd);
  } catch (error) {
    node.rmSync(path, { force: true });
    throw error;
  } finally {
    node.closeSync(fd);
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

/** Makes sure that the content of a file, or the names in a directory, survive a power cut. */
export function syncNow(path: string): void {
  const fd = node.openSync(path, 'r');
  try {
    node.fsyncSync(fd);
  } finally {
    node.closeSync(fd);
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
