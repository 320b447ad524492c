/** Keeps what the start of a long-lived process needs for a moment from staying with it for good. */
import { releaseFreeMemory } from './libc.ts';

/**
 * Keeps the engine's space for young objects small until the returned function is called: it doubles while much is made
 * at once, as modules are loaded, up to 16 MB, and stays so for as long as the process lives. Afterwards it may grow where
 * the work needs it.
 */
export function startFrugally(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Gives back to the system what is free within the process; takes some milliseconds. Where Node was started without our
 * options it would warn of an experiment, which is worse than some megabytes.
 */
export function giveBackFreeMemory(): void {
  const isSea = process.getBuiltinModule('node:sea').isSea();
  if (!isSea && !process.execArgv.includes('--disable-warning=ExperimentalWarning')) return;
  try {
    releaseFreeMemory();
  } catch {
    // Other C libraries do that by themselves, or not at all.
  }
}
