/** What one check-in costs. */
import type { Subject } from '../cases/case.ts';
import type { Daemon } from '../program/daemon.ts';

/** Microseconds of processor time for each check-in. */
export type Costs = { daemonCost: number; databaseCost: number };

/** Starts counting. @returns a function that stops, given how many check-ins there were */
export function costsOf(subject: Subject, daemon: Daemon): (count: number) => Costs {
  const before = subject.spent(daemon);
  return (count) => {
    const after = subject.spent(daemon);
    const each = (of: 'daemon' | 'database') => (1e6 * (after[of] - before[of])) / count;
    return { daemonCost: each('daemon'), databaseCost: each('database') };
  };
}
