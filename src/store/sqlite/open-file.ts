/** Whether a file that is open can still be found by its name: what is written to it otherwise is lost with the process. */
import { fstatSync, readlinkSync, type Stats, statSync } from 'node:fs';

/** What became of `path`, which was opened as `fd`, in words; null while it is still the same file. */
export function misplacedFile(fd: number, path: string): string | null {
  const open = fstatSync(fd);
  let named: Stats | undefined;
  try {
    named = statSync(path, { throwIfNoEntry: false });
  } catch {
    // What cannot be asked, because a directory on the way is closed for one, proves nothing.
    return null;
  }
  if (named && named.ino === open.ino && named.dev === open.dev) return null;
  const instead = named ? ', and another file has its name' : '';
  if (open.nlink === 0) return `${path} was deleted while it is in use${instead}`;
  const place = presentName(fd);
  return `${path} was moved${place ? ` to ${place}` : ''} while it is in use${instead}`;
}

/** Where the file is now that was opened as `fd`; null where it was deleted, or nothing tells. */
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
