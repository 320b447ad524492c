/** Hints name a command as it must be typed: with `sudo`, where root is needed and this is not root. */
export function asRoot(command: string): string {
  return process.getuid?.() === 0 ? command : `sudo ${command}`;
}

/** The same for what the owner of a file may do too. */
export function asOwner(command: string, owner: number): string {
  return process.getuid?.() === owner ? command : asRoot(command);
}
