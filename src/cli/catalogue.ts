/**
 * Every command there is. The modules behind them load when one is called, so that each command pays only for
 * itself; the help of the program is made from this list alone.
 */
import type { Register } from './command.ts';

export interface Entry {
  name: string;
  /** What it does, in a few words without a full stop. */
  summary: string;
  load(): Promise<{ register: Register }>;
}

/** Commands that belong to one task of a user, as the help shows them. */
export interface Task {
  title: string;
  entries: readonly Entry[];
}

const daemon = () => import('./daemon-commands.ts');

export const TASKS: readonly Task[] = [
  {
    title: 'Run the daemon',
    entries: [
      { name: 'serve', summary: 'run the daemon', load: daemon },
      { name: 'config', summary: 'check or show the configuration of the daemon', load: daemon },
    ],
  },
  {
    title: 'More',
    entries: [{ name: 'version', summary: 'print the version', load: daemon }],
  },
];

export const ENTRIES: readonly Entry[] = TASKS.flatMap(({ entries }) => entries);

export function findEntry(name: string): Entry | undefined {
  return ENTRIES.find((entry) => entry.name === name);
}
