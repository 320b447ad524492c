/** A bench: a subject is prepared, measured in rounds, and the medians of the rounds become lines of a table. */
import type { JobsDatabase } from '../database/jobs-database.ts';
import type { BareServer } from '../load/bare-server.ts';
import type { Daemon } from '../program/daemon.ts';
import type { Workplace } from '../workplace.ts';

/** How much is measured. A short run only proves that the benches work: its figures mean nothing. */
export interface Sizes {
  /** A million, unless an option says otherwise. */
  million: number;
  /** Ten thousand: how many fail at once, and how many the comparison has in all. */
  tenThousand: number;
  thousand: number;
  /** How many alerts a storm has. */
  storms: readonly number[];
  /** Check-ins of each snitch, one a day. */
  history: number;
  connections: number;
  /** A load that is as fast as possible ends after this many requests, unless its time is over sooner. */
  requests: number;
  rounds: number;
  /** Requests a second of a steady load. */
  rate: number;
  /** Seconds of one measurement. */
  seconds: number;
  /** Seconds of quiet before the memory is measured. */
  quiet: number;
  /** How many milliseconds longer each sync of the disk takes in the case `slow-disk`. */
  slowDisk: number;
}

/** One program under test: the work tree, or a named earlier commit. */
export interface Subject {
  workplace: Workplace;
  sizes: Sizes;
  bare: BareServer;
  /** A database of this many snitches. It is the same one each time, so each case brings it into the state it needs. */
  database(count: number): Promise<JobsDatabase>;
  start(dataDir: string, env?: Readonly<Record<string, string>>): Promise<Daemon>;
  /** Seconds of processor time so far: of the daemon, and of its database server if that is another process. */
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
  /** The figure that it is compared with, and what that is called. */
  beside?: { figure: string; name: string };
  /** The bounds for the figure itself, for its ratio to the other one, or for how much larger it is. */
  aim?: { of: 'figure' | 'ratio' | 'difference'; least?: number; most?: number };
}

export interface Case {
  name: string;
  /** The number of rounds, unless an option says otherwise. */
  rounds: number;
  /** Whether it is measured only if it is named. */
  onlyNamed?: boolean;
  lines(sizes: Sizes): Line[];
  open(subject: Subject): Promise<Rounds>;
}

/** `1,000,000`. */
export function counted(count: number): string {
  return count.toLocaleString('en-US');
}
