/** Tells whether a socket is the same one as before a restart: then it listened all the time. */
import { fstatSync, readFileSync } from 'node:fs';

/**
 * The name of a socket that the service manager passed, for as long as it holds it: a socket that was closed and opened
 * again has another number, and after a boot of the machine all names are others. Null where there is none, or where
 * the kernel does not tell.
 *
 * @param socket its descriptor
 */
export function nameOfHeldSocket(socket: number | null): string | null {
  if (socket === null) return null;
  try {
    const { dev, ino } = fstatSync(socket);
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return boot === '' ? null : `${boot} ${dev} ${ino}`;
  } catch {
    return null;
  }
}
