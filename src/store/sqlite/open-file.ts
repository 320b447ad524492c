/** Whether an open file can still be found by its name: if not, what is written to it is lost with the process. */
import { fstatSync, readlinkSync, type Stats, statSync } from 'node:fs';

/** What became of `path`, which was opened as `fd`, in words; null while it is still the same file. */
export function misplacedFile(fd: number, path: string): string | null {
  const open = fstatSync(fd);
  let named: Stats | undefined;
  try {
    named = statSync(path, { throwIfNoEntry: false });
  } catch {
    // If a directory on the way is not accessible, that proves nothing.
    return null;
  }
  if (named && named.ino === open.ino && named.dev === open.dev) return null;
  const instead = named ? ', and another file has its name' : '';
  if (open.nlink === 0) return `${path} was deleted while it is in use${instead}`;
  const place = presentName(fd);
  return `${path} was moved${place ? ` to ${place}` : ''} while it is in use${instead}`;
}

/** Where the file that was opened as `fd` is now; null if it was deleted, or its place is unknown. */
export function placeOf(fd: number): string | null {
  return fstatSync(fd).nlink === 0 ? null : presentName(fd);
}

function presentName(fd: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}
