/** Processor time, which says what something costs even if the machine is busy with other work. */
import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const TICKS = 100;

/** Seconds of processor time of a process, without its children. */
export function processorTime(pid: number): number {
  const { own } = timesOf(pid);
  return own;
}

/** Seconds of processor time of a process and all its children, including those that have ended. */
export function processorTimeOfAll(pid: number): number {
  const { own, ended } = timesOf(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const living = children === '' ? [] : children.split(' ').map(Number);
  return living.reduce((sum, child) => sum + timeOrNone(child), own + ended);
}

/** A child that ends at this moment is counted with its parent the next time. */
function timeOrNone(pid: number): number {
  try {
    return processorTime(pid);
  } catch {
    return 0;
  }
}

/** After the name, which may contain spaces: the time in the program and in the kernel, and that of ended children. */
function timesOf(pid: number): { own: number; ended: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number) => (fields[index] ?? 0) / TICKS;
  return { own: at(11) + at(12), ended: at(13) + at(14) };
}
