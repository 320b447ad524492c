/** What a bench is: a subject is prepared, measured in rounds, and the medians of the rounds become lines of a table. */
import type { JobsDatabase } from '../database/jobs-database.ts';
import type { BareServer } from '../load/bare-server.ts';
import type { Daemon } from '../program/daemon.ts';
import type { Workplace } from '../workplace.ts';

/** How much is measured. A short run proves that the benches work, and its figures say nothing. */
export interface Sizes {
  /** A million, where it is not said otherwise. */
  million: number;
  /** Ten thousand: how many fail at once, and how many the comparison has in all. */
  tenThousand: number;
  thousand: number;
  /** How many alerts a storm has. */
  storms: readonly number[];
  /** Check-ins of each snitch, one a day. */
  history: number;
  connections: number;
  /** A load that is as fast as can be ends after so many requests, where its time is not over before. */
  requests: number;
  rounds: number;
  /** Requests a second of a steady load. */
  rate: number;
  /** Seconds of one measurement. */
  seconds: number;
  /** Seconds of quiet before the memory is looked at. */
  quiet: number;
  /** Milliseconds that each sync of the disk takes longer in the case `slow-disk`. */
  slowDisk: number;
}

/** One program under test: what is in the work tree, or a named earlier commit. */
export interface Subject {
  workplace: Workplace;
  sizes: Sizes;
  bare: BareServer;
  /** A database of so many snitches; the same one whenever it is asked for, so that each case brings it into its state. */
  database(count: number): Promise<JobsDatabase>;
  start(dataDir: string, env?: Readonly<Record<string, string>>): Promise<Daemon>;
  /** Seconds of processor time so far: of the daemon, and of the server of its database where that is another process. */
  spent(daemon: Daemon): { daemon: number; database: number };
  /** The same program with another wrapper. */
  wrapped(wrapper: readonly string[]): Subject;
}

/** What one round measured, each figure under a name of its own. */
export type Figures = Readonly<Record<string, number>>;

export interface Rounds {
  round(): Promise<Figures>;
  end(): Promise<void>;
}

export type Unit = 'a second' | 'µs' | 'ms' | 's' | 'bytes';

/** A line of the table. Figures are named; their values are medians of the rounds. */
export interface Line {
  what: string;
  figure: string;
  unit: Unit;
  /** What the figure is compared with, and how that is called. */
  beside?: { figure: string; name: string };
  /** What is to hold of the figure itself, of its ratio to the other one, or of how much it is more. */
  aim?: { of: 'figure' | 'ratio' | 'difference'; least?: number; most?: number };
}

export interface Case {
  name: string;
  /** Rounds where it is not said otherwise. */
  rounds: number;
  /** Whether it is measured only where it is named. */
  onlyNamed?: boolean;
  lines(sizes: Sizes): Line[];
  open(subject: Subject): Promise<Rounds>;
}

/** `1,000,000`. */
export function counted(count: number): string {
  return count.toLocaleString('en-US');
}
