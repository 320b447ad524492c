import { useApp, useInput } from 'ink';
import { useEffect } from 'react';
import { keyNames } from '../model/key-names.ts';

interface SuspensionProps {
  /** Called while the terminal is the shell's; what it returns settles when the terminal is ours again. */
  away: () => Promise<void>;
}

/** Gives the terminal back while the job is stopped, by Ctrl-Z or by a signal, and draws everything anew after `fg`. */
export function Suspension({ away }: SuspensionProps) {
  const { suspendTerminal } = useApp();
  const suspend = () => void suspendTerminal(away).catch(() => undefined);
  useInput((input, key) => {
    if (keyNames(input, key).includes('ctrl+z')) suspend();
  });
  useEffect(() => {
    process.on('SIGTSTP', suspend);
    return () => void process.off('SIGTSTP', suspend);
  });
  return null;
}
