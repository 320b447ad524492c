/** Not from `node:timers/promises`: loading that takes time whenever a command starts. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
