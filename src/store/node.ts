/** What a store on a database that several nodes share tells of them, and does for this one. */
import type { BlindWindow } from '../core/blind-window.ts';
import type { StoreUnavailable } from '../core/errors.ts';

/** One run of the program on the shared database. All instants are milliseconds of the database's clock. */
export interface ListedNode {
  readonly id: string;
  /** For people: the name of the host. */
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
  readonly aliveAt: number;
  /** It ended in order; null while it runs, or where it ended without a word. */
  readonly stoppedAt: number | null;
  /** How far the clock of its host was ahead of the database's at its last sign, in milliseconds; negative if behind. */
  readonly clockAheadMs: number;
  /** Up to which its program knows the schema. */
  readonly schemaVersion: number;
  /** It does no work yet, because nodes of an older version live that its upgrade of the schema would break. */
  readonly waits: boolean;
}

/** What a node tells of its connections, and of the calls that wait for one now or have waited. */
export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  /** The most that it opens. */
  readonly size: number;
  /** Calls that waited and do so no more, whether they got one or not, and for how long together in milliseconds. */
  readonly waits: number;
  readonly waitedMs: number;
}

export interface ClusterNode {
  readonly id: string;
  /**
   * This node takes check-ins from now on, and says so each second. A time in which no node did is a blind window.
   *
   * @param heldSocket where the service manager has held it all the while and nobody was refused at this start; else null
   * @throws what keeps the first sign of life from being given
   */
  begin(heldSocket?: string | null): Promise<void>;
  /** This node takes no more check-ins. It fails quietly: the others notice it all the same. */
  leave(): Promise<void>;
  /** After `leave`: everybody was answered, and who comes now waits at this socket for the next start. It fails quietly too. */
  leaveHeld(socket: string): Promise<void>;
  /** The clock that all nodes share, in milliseconds. */
  now(): Promise<number>;
  /** How far the clock of this host is ahead of that one, in milliseconds; negative where it is behind. */
  clockAheadMs(): number;
  /** Runs `work` while no other node does what has this name. It is given what throws where another one may do it by now. */
  alone<T>(name: string, work: (confirm: () => Promise<void>) => Promise<T>): Promise<T>;
  /** The newest first, with those that ended in the last days. */
  list(): Promise<ListedNode[]>;
  /** Of the connections of this node that calls are made on; null while the database is not open. */
  connections(): Connections | null;
  /** Of the whole database with its indexes, in bytes. */
  databaseSize(): Promise<number>;
  /**
   * Makes up for what this node refused: where no other node lives that could take it, the time is a blind window. What
   * check-ins the database itself refused need not be asked for. Each window that was opened is answered once.
   */
  answerForRefused(): Promise<BlindWindow | null>;
  /**
   * Counts a check-in among what this node refused that never came to be written, because its key or its name could not be
   * looked up.
   *
   * @param since when it came, in milliseconds of the clock that all nodes share
   */
  noteLostCheckIn(since: number, error: StoreUnavailable): void;
  /**
   * What this node claimed since then is its own, by `performance.now()`. Infinite while its signs of life are missing:
   * then another node may have taken everything over, and nothing that was claimed may be sent.
   */
  heldSince(): number;
  /** What is wrong, in words that may be shown to anybody; null if nothing is. */
  problem(): string | null;
}
