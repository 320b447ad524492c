/** What a store on a shared database reports about its nodes, and does for this one. */
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
  /** When it ended in order; null while it runs, or if it ended without saying so. */
  readonly stoppedAt: number | null;
  /** How far its host's clock was ahead of the database's at its last sign, in milliseconds; negative if behind. */
  readonly clockAheadMs: number;
  /** The newest schema version that its program knows. */
  readonly schemaVersion: number;
  /** It does no work yet, because upgrading the schema would break nodes of an older version that still live. */
  readonly waits: boolean;
}

/** A node's connections, and the calls that wait for one now or have waited. */
export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  /** The most that it opens. */
  readonly size: number;
  /** Calls that have waited, whether they got one or not, and for how long altogether in milliseconds. */
  readonly waits: number;
  readonly waitedMs: number;
}

export interface ClusterNode {
  readonly id: string;
  /**
   * From now on this node accepts check-ins, and says so each second. A time in which no node did is a blind window.
   *
   * @param heldSocket if the service manager has held it all the while and nobody was refused at this start; otherwise
   * null
   * @throws whatever prevents the first sign of life
   */
  begin(heldSocket?: string | null): Promise<void>;
  /** This node accepts no more check-ins. It fails quietly: the others notice anyway. */
  leave(): Promise<void>;
  /** After `leave`: everybody was answered, and callers now wait at this socket until the next start. Fails quietly. */
  leaveHeld(socket: string): Promise<void>;
  /** The clock that all nodes share, in milliseconds. */
  now(): Promise<number>;
  /** How far this host's clock is ahead of that one, in milliseconds; negative if it is behind. */
  clockAheadMs(): number;
  /**
   * Runs `work` while no other node runs work of this name. `work` is given a function that throws if another node may
   * have taken over by now.
   */
  alone<T>(name: string, work: (confirm: () => Promise<void>) => Promise<T>): Promise<T>;
  /** Newest first, including those that ended in the last days. */
  list(): Promise<ListedNode[]>;
  /** The connections of this node on which calls are made; null while the database is not open. */
  connections(): Connections | null;
  /** The whole database with its indexes, in bytes. */
  databaseSize(): Promise<number>;
  /**
   * Makes up for what this node refused: if no other node was alive to accept it, the time becomes a blind window.
   * Windows for check-ins that the database itself refused are opened without this call. Each opened window is returned
   * once.
   */
  answerForRefused(): Promise<BlindWindow | null>;
  /**
   * Counts a check-in among those that this node refused although it never got as far as being written, because its key
   * or its name could not be looked up.
   *
   * @param since when it came, in milliseconds of the clock that all nodes share
   */
  noteLostCheckIn(since: number, error: StoreUnavailable): void;
  /**
   * What this node claimed since then, by `performance.now()`, is still its own. Infinite while its signs of life are
   * missing: another node may then have taken everything over, and nothing that was claimed can be sent.
   */
  heldSince(): number;
  /** What is wrong, in words that anybody may see; null if nothing is. */
  problem(): string | null;
}
