/** Tells whether a socket is the same as before a restart, and so has been listening all the time. */
import { fstatSync, readFileSync } from 'node:fs';

/**
 * Names a socket that the service manager passed, for as long as the manager holds it. A socket that was closed and
 * opened again has another inode number, and after a reboot all names are different.
 *
 * @param socket the descriptor of the socket
 * @returns null if there is no socket, or if the kernel does not say
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
