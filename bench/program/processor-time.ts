/** Processor time, which says what something costs even where others are at work on the machine. */
import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const TICKS = 100;

/** Seconds that a process has worked. */
export function processorTime(pid: number): number {
  const { own } = timesOf(pid);
  return own;
}

/** Seconds that a process has worked with all its children, those that have ended too. */
export function processorTimeOfAll(pid: number): number {
  const { own, ended } = timesOf(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const living = children === '' ? [] : children.split(' ').map(Number);
  return living.reduce((sum, child) => sum + timeOrNone(child), own + ended);
}

/** A child that ends in this moment counts with its parent the next time. */
function timeOrNone(pid: number): number {
  try {
    return processorTime(pid);
  } catch {
    return 0;
  }
}

/** Behind the name, which may have spaces in it: the time in the program and in the kernel, and that of ended children. */
function timesOf(pid: number): { own: number; ended: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number) => (fields[index] ?? 0) / TICKS;
  return { own: at(11) + at(12), ended: at(13) + at(14) };
}
