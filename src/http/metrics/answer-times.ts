/**
 * How long answering check-ins takes. Every check-in takes this path, and one of the library's histograms would cost
 * more than everything else that is counted.
 */

import { SECOND } from '../../text/durations.ts';
import type { Family } from './series-text.ts';

/** The upper ends of the buckets in seconds: from well within a sync of the disk to when most clients give up. */
const ENDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export class AnswerTimes {
  readonly family: Family;
  /** By bucket; the last one has no end. */
  readonly #counts = new Array<number>(ENDS.length + 1).fill(0);
  #sum = 0;

  constructor(family: Family) {
    this.family = family;
  }

  observe(milliseconds: number): void {
    const seconds = milliseconds / SECOND;
    let bucket = 0;
    while (bucket < ENDS.length && seconds > (ENDS[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  text(): string {
    const { name, help } = this.family;
    let total = 0;
    const lines = this.#counts.map((count, bucket) => {
      total += count;
      return `${name}_bucket{le="${ENDS[bucket] ?? '+Inf'}"} ${total}\n`;
    });
    const head = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`;
    return `${head}${lines.join('')}${name}_sum ${this.#sum}\n${name}_count ${total}\n`;
  }
}
