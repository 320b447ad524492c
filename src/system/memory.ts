/** Keeps a long-lived process from holding on to the memory that only its start needed. */
import { releaseFreeMemory } from './libc.ts';

/**
 * What a daemon loads of Node's own modules. Node brings them compiled, but only for the options of the engine that it
 * starts with: with another one each is compiled anew, which took a twelfth of a start.
 */
const OF_NODE = [
  ...['assert', 'cluster', 'dns', 'fs/promises', 'http', 'https', 'module', 'perf_hooks', 'readline', 'sea'],
  ...['timers/promises', 'tty', 'worker_threads', 'zlib'],
];

/**
 * Keeps the engine's space for young objects small until the returned function is called: while much is allocated at
 * once, as when modules are loaded, it doubles up to 16 MB, and stays that large for the life of the process.
 * Afterwards it may grow if the work needs it.
 */
export function startFrugally(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  // They load the others that it needs.
  for (const name of OF_NODE) process.getBuiltinModule(`node:${name}`);
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Returns the process's free memory to the system; takes some milliseconds. If Node was started without our options, it
 * would print a warning about an experimental feature, which is worse than some megabytes.
 */
export function giveBackFreeMemory(): void {
  const isSea = process.getBuiltinModule('node:sea').isSea();
  if (!isSea && !process.execArgv.includes('--disable-warning=ExperimentalWarning')) return;
  try {
    releaseFreeMemory();
  } catch {
    // Other C libraries do that on their own, or not at all.
  }
}
