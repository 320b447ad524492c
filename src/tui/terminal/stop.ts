/** Stops this job as a shell's job control does. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for the signal to arrive, in milliseconds. */
const ARRIVAL = 50;

/**
 * Stops the process group as Ctrl-Z does elsewhere, and resolves once it goes on. Where nobody could continue it, as in
 * a terminal without a shell, the kernel ignores the signal, and it goes on at once.
 */
export async function stopJob(): Promise<void> {
  const handlers = process.listeners('SIGTSTP');
  process.removeAllListeners('SIGTSTP');
  process.kill(0, 'SIGTSTP');
  // A stopped process has no time: the wait ends after it was continued.
  await sleep(ARRIVAL);
  for (const handler of handlers) process.on('SIGTSTP', handler);
}
