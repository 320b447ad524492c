/**
 * The one way in which private files are written: never through a link, readable by their owner alone, whole or not at
 * all. What commands write beside a running job is written without holding it up; the functions whose names end in
 * `Now` are for where nothing else goes on, and for files that SQLite fills.
 */

// Asking for `promises` loads them, which commands that write nothing need not wait for.
const node = process.getBuiltinModule('node:fs');
const { basename, dirname, join } = process.getBuiltinModule('node:path');

const PRIVATE = 0o600;

/** What is copied at once, in bytes. */
const CHUNK = 1 << 20;

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
 * Makes a private file as `createPrivateFile` does, before it returns.
 *
 * @param text absent for a file that somebody else fills and syncs
 * @throws the error of the file system, `EEXIST` for a name that is taken; half a file is removed again
 */
export function createPrivateFileNow(path: string, text?: string | Buffer): void {
  fillNow(path, (fd) => {
    if (text === undefined) return;
    node.writeFileSync(fd, text);
    node.fsyncSync(fd);
  });
}

/**
 * Copies a file of any size into a private one that is made for it. It is not synced: that is left to whoever changes
 * it still.
 *
 * @throws the error of the file system, `EEXIST` for a name that is taken; half a copy is removed again
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

/** Makes what was written to a file, or the names that were given or taken away in a directory, outlast a power cut. */
export function syncNow(path: string): void {
  const fd = node.openSync(path, 'r');
  try {
    node.fsyncSync(fd);
  } finally {
    node.closeSync(fd);
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
