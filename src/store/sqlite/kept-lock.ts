/**
 * Keeps the data directory locked although somebody removes the file of the lock: otherwise a second daemon could start
 * beside this one, take what this one is doing for a downtime, send again what it is sending, and checkpoint its log.
 */
import { type FSWatcher, watch } from 'node:fs';
import { MINUTE } from '../../text/durations.ts';
import { DataDirLocked, type DirectoryLock, lockPath, takeLock } from './lock.ts';
import type { Report } from './place-watch.ts';

/** How often it looks, and how often it repeats the same report, in milliseconds. */
const LOOK_EVERY = 5_000;
const REPEAT_EVERY = 10 * MINUTE;

/** Whoever deletes the whole directory must not find a new file in it; a second daemon takes longer to start. */
const LOOKS_AFTER = 50;

export interface KeptLockOptions {
  dataDir: string;
  /** Whether there is anything to protect: a database that was moved away is not used by whoever comes next. */
  isAtStake: () => boolean;
  report: Report;
  lookEvery?: number | undefined;
}

export class KeptLock {
  readonly #options: KeptLockOptions;
  readonly #timer: NodeJS.Timeout;
  #lock: DirectoryLock | null;
  #watcher: FSWatcher | null = null;
  #isReleased = false;
  #told: { message: string; at: number } | null = null;
  /** True while another process has locked the same directory. */
  isContested = false;

  constructor(lock: DirectoryLock, options: KeptLockOptions) {
    this.#lock = lock;
    this.#options = options;
    this.#timer = setInterval(() => this.look(), options.lookEvery ?? LOOK_EVERY);
    this.#timer.unref();
    this.#watch();
    this.look();
  }

  /** Takes the lock again if its file is no longer the one that is locked. */
  look(): void {
    if (this.#isReleased || this.#lock?.isInPlace() || !this.#options.isAtStake()) return;
    const path = lockPath(this.#options.dataDir);
    // Closed before the next one is opened, because it takes the file `snitch.lock-journal` with it.
    this.#lock?.release();
    this.#lock = null;
    this.isContested = false;
    try {
      this.#lock = takeLock(this.#options.dataDir);
      this.#watch();
      this.#tell(
        `${path} was removed while it is in use, and is locked again. It is what keeps a second daemon from using the same database: leave it where it is`,
      );
    } catch (error) {
      this.isContested = error instanceof DataDirLocked;
      this.#tell(this.isContested ? contested(path) : unlocked(path), error);
    }
  }

  release(): void {
    this.#isReleased = true;
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#lock?.release();
  }

  /** Without it, as on a host that has no watches left, the timer notices a little later. */
  #watch(): void {
    this.#watcher?.close();
    this.#watcher = null;
    try {
      const soon = () => void setTimeout(() => this.look(), LOOKS_AFTER).unref();
      this.#watcher = watch(lockPath(this.#options.dataDir), { persistent: false }, soon);
      this.#watcher.on('error', () => {});
    } catch {
      return;
    }
  }

  #tell(message: string, error?: unknown): void {
    const now = performance.now();
    if (this.#told?.message === message && now - this.#told.at < REPEAT_EVERY) return;
    this.#told = { message, at: now };
    this.#options.report(message, error === undefined ? {} : { err: error });
  }
}

function contested(path: string): string {
  return `${path} was removed or replaced while it is in use, and another process has locked the new one: if that is a second daemon, both work on one database. Alerts may be sent twice, a downtime is noted that was none, and a power cut may lose check-ins. Stop one of them now`;
}

function unlocked(path: string): string {
  return `${path} was removed or replaced while it is in use, and cannot be locked again: nothing keeps a second daemon from using the same database. Do not start one`;
}
