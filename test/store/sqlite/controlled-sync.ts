import { fstatSync, statSync } from 'node:fs';
import type { Case } from '../../../src/core/case.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import type { SqliteOptions } from '../../../src/store/sqlite/sqlite-store.ts';
import { healthySnitch, newCase, type Opened, openIn, openSqlite, temporaryDirectory } from '../fixture.ts';

interface Sync {
  fd: number;
  done: (error: Error | null) => void;
}

/** Stands in for `fdatasync`: every sync lasts until the test ends it. */
export class ControlledSync {
  #waiting: Sync[] = [];
  #free = false;

  readonly syncFile = (fd: number, done: Sync['done']): void => {
    if (this.#free) setImmediate(done, null);
    else this.#waiting.push({ fd, done });
  };

  /** How many syncs have begun and not ended. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Which file of the store the only sync that waits is for. */
  fileIn(dataDir: string): 'log' | 'database' | 'other' {
    const [sync, ...more] = this.#waiting;
    if (!sync || more.length > 0) throw new Error(`${this.waiting} syncs wait, and not one`);
    const { ino } = fstatSync(sync.fd);
    if (ino === statSync(`${databasePath(dataDir)}-wal`).ino) return 'log';
    return ino === statSync(databasePath(dataDir)).ino ? 'database' : 'other';
  }

  /** Ends the oldest sync that waits, and lets the store go on. */
  async end(error: Error | null = null): Promise<void> {
    const sync = this.#waiting.shift();
    if (!sync) throw new Error('no sync waits');
    sync.done(error);
    await turns();
  }

  /** From now on no sync waits. */
  free(): void {
    this.#free = true;
    for (const { done } of this.#waiting.splice(0)) setImmediate(done, null);
  }
}

/** A store with a healthy snitch whose syncs last until the test ends them. */
export interface HeldStore extends Opened {
  sync: ControlledSync;
  owner: Case;
  token: string;
}

export async function openHeld(
  options: Pick<SqliteOptions, 'checkpointAfter' | 'onHeld'> = {},
): Promise<HeldStore> {
  const dataDir = temporaryDirectory();
  await using prepared = openIn(dataDir);
  const owner = await newCase(prepared, { members: ['ann@example.com'] });
  const { token } = await healthySnitch(prepared, owner);
  await prepared.close();
  const sync = new ControlledSync();
  const opened = await openSqlite({ ...options, dataDir, syncFile: sync.syncFile });
  return { ...opened, sync, owner, token };
}

/** Turns the event loop until the store has done all that it can do without the disk. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** Watches a promise: `pending` until it is kept or broken. */
export function follow(promise: Promise<unknown>): { state: 'pending' | 'kept' | 'broken'; error: unknown } {
  const followed = { state: 'pending' as 'pending' | 'kept' | 'broken', error: undefined as unknown };
  promise.then(
    () => {
      followed.state = 'kept';
    },
    (error: unknown) => {
      followed.state = 'broken';
      followed.error = error;
    },
  );
  return followed;
}
