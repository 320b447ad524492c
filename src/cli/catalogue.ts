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
const look = () => import('./look.ts');
const pause = () => import('./pause.ts');
const write = () => import('./write.ts');
const deliveries = () => import('./deliveries.ts');
const list = () => import('./list.ts');

export const TASKS: readonly Task[] = [
  {
    title: 'Look',
    entries: [
      { name: 'list', summary: 'which snitches there are, and how they are', load: list },
      { name: 'show', summary: 'all of one snitch', load: look },
      { name: 'history', summary: 'its check-ins', load: look },
      { name: 'explain', summary: 'its deadline and next alert, in words', load: look },
      { name: 'alerts', summary: 'what was alerted', load: deliveries },
      {
        name: 'deliveries',
        summary: 'what was sent to whom, and what could not be; retry',
        load: deliveries,
      },
    ],
  },
  {
    title: 'Change',
    entries: [
      { name: 'create', summary: 'make a snitch', load: write },
      { name: 'edit', summary: 'change a snitch', load: write },
      { name: 'tag', summary: 'add or remove tags', load: write },
      { name: 'pause', summary: 'mute the alerts of snitches for a while', load: pause },
      { name: 'unpause', summary: 'let them alert again', load: pause },
      { name: 'delete', summary: 'delete snitches', load: () => import('./delete.ts') },
    ],
  },
  {
    title: 'In jobs',
    entries: [
      {
        name: 'check-in',
        summary: 'say that a job ran, or how it failed',
        load: () => import('./check-in.ts'),
      },
    ],
  },
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
