import { isInContainer } from '../../system/container.ts';

/** A command that needs root, as the user has to type it: with `sudo`, unless the user is root or in a container. */
export function asRoot(command: string): string {
  return process.getuid?.() === 0 || isInContainer() ? command : `sudo ${command}`;
}

/** The same for a command that the owner of a file may run as well. */
export function asOwner(command: string, owner: number): string {
  return process.getuid?.() === owner ? command : asRoot(command);
}
