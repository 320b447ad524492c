/**
 * What a process owes to its container if it is process 1 there: the kernel gives it no default action for signals, and
 * makes it the parent of every process whose own parent has ended (pid_namespaces(7)).
 */
import { takeLeave } from './libc.ts';

const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');

/** Between two checks for processes that have ended, in milliseconds. */
const AGAIN_AFTER = 1_000;

/** Ends the process at a signal that nothing else handles, as any other process would. */
export function endOnSignals(pid = process.pid): void {
  if (pid !== 1) return;
  const numbers = { SIGINT: 2, SIGTERM: 15 };
  for (const [signal, number] of Object.entries(numbers)) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
  }
}

/**
 * Reaps orphans that have ended, which would otherwise fill the process table: the programs of `command` channels may
 * leave some behind.
 *
 * Node does that for the processes that it has started, at the next turn of its event loop, and must not lose their
 * exit status. So only processes are reaped that had ended at two checks with such a turn in between.
 */
export function adoptOrphans(pid = process.pid): void {
  if (pid !== 1) return;
  let isLooking = false;
  let earlier: ReadonlySet<string> = new Set();
  const lookLater = () => {
    isLooking = true;
    setTimeout(look, AGAIN_AFTER).unref();
  };
  const look = () => {
    const ended = endedChildrenOf(pid);
    for (const [child, identity] of ended) if (earlier.has(identity)) forget(child);
    earlier = new Set(ended.values());
    isLooking = false;
    if (ended.size > 0) lookLater();
  };
  process.on('SIGCHLD', () => {
    if (!isLooking) lookLater();
  });
}

/** If the C library cannot be called they stay, which does less harm than a crash of the daemon. */
function forget(child: number): void {
  try {
    takeLeave(child);
  } catch {
    // It is tried again at the next check.
  }
}

/**
 * The zombie children of a process by number, each with an identity that tells it from a later process with the same
 * number.
 */
export function endedChildrenOf(parent: number): Map<number, string> {
  const ended = new Map<number, string>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(name);
    if (stat?.state === 'Z' && stat.parent === parent) ended.set(Number(name), `${name} ${stat.began}`);
  }
  return ended;
}

/** Fields of proc_pid_stat(5). Null for a process that is gone by now. */
function statOf(pid: string): { state: string; parent: number; began: string } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // The name in parentheses may contain anything, even parentheses.
  const [state = '', parent = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent), began: fields[17] ?? '' };
}
