/** Has the log copied into the database by a separate thread, which is started when needed and ends afterwards. */
import { Worker } from 'node:worker_threads';
import { MINUTE, SECOND } from '../../text/durations.ts';
import { addonFile } from './addon.ts';
import type { CopyingAnswer, CopyingOrder, CopyingWork } from './copying-thread.ts';

/** The code of the thread, inserted by the build; when run from sources, the thread loads its own file. */
declare const SNITCH_COPYING_THREAD: string | undefined;

/** How long an answer may take, in milliseconds. */
const PATIENCE = 30 * SECOND;

/** How long ending may take, in milliseconds. */
const END_WITHIN = 5 * SECOND;

/** How long the thread is kept when there is nothing to copy, in milliseconds: it costs some megabytes. */
const KEPT = 3 * MINUTE;

const ENDED = 'the thread ended';

/** Copies what is in the log on request, while others write to the log. */
export interface BackgroundCopy {
  /**
   * @returns how many frames of the log had to be left because somebody reads an older state
   * @throws Error with SQLite's code if SQLite refused; any other error means that no thread can do it now
   */
  copy(): Promise<{ left: number }>;
  /** Ends the thread once it has finished its work. */
  end(): Promise<void>;
}

type StartThread = (work: CopyingWork) => Worker;

export class CopyingThread implements BackgroundCopy {
  readonly #path: string;
  readonly #isInPlace: () => boolean;
  readonly #patience: number;
  readonly #kept: number;
  readonly #startThread: StartThread;
  #thread: Worker | null = null;
  /** Resolves when the last thread that was told to end has ended. */
  #ended: Promise<void> = Promise.resolve();
  /** The thread that was abandoned and has not ended yet. */
  #leaving: Worker | null = null;
  /** Why threads failed or ended, which may happen while nobody waits for an answer. */
  readonly #faults = new WeakMap<Worker, Error>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param path of the database
   * @param isInPlace whether the database and its log are still the files at that path, which a new connection would
   * open
   */
  constructor(
    path: string,
    isInPlace: () => boolean,
    options: { patience?: number; kept?: number; startThread?: StartThread } = {},
  ) {
    this.#path = path;
    this.#isInPlace = isInPlace;
    this.#patience = options.patience ?? PATIENCE;
    this.#kept = options.kept ?? KEPT;
    this.#startThread = options.startThread ?? startThread;
  }

  async copy(): Promise<{ left: number }> {
    this.#stopTimer();
    try {
      this.#thread ??= await this.#start();
      const answer = await this.#ask(this.#thread, 'copy');
      if (answer.kind !== 'copied') throw errorOf(answer);
      this.#timer = setTimeout(() => void this.end(), this.#kept).unref();
      return { left: answer.busy ? Number.POSITIVE_INFINITY : answer.log - answer.checkpointed };
    } catch (error) {
      this.#giveUp();
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#stopTimer();
    const thread = this.#thread;
    this.#thread = null;
    if (thread) this.#ended = ended(thread, 'end');
    await this.#ended;
    if (this.#leaving) await ended(this.#leaving);
  }

  async #start(): Promise<Worker> {
    await this.#ended;
    if (this.#leaving) throw new Error('the last thread has not ended yet');
    if (!this.#isInPlace()) throw new Error('the files of the database are not where they were');
    const thread = this.#startThread({ path: this.#path, addon: addonFile() });
    thread.unref();
    // The caller gets the error as well; without a listener it would end the process.
    thread.on('error', (error: Error) => this.#faults.set(thread, error));
    thread.once('exit', () => {
      if (!this.#faults.has(thread)) this.#faults.set(thread, new Error(ENDED));
      if (this.#leaving === thread) this.#leaving = null;
    });
    this.#thread = thread;
    const answer = await this.#ask(thread);
    if (answer.kind === 'failed') throw errorOf(answer);
    if (!this.#isInPlace()) throw new Error('the files of the database are not where they were');
    return thread;
  }

  /** The thread keeps the process alive only while an answer is awaited. */
  #ask(thread: Worker, order?: CopyingOrder): Promise<CopyingAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<CopyingAnswer>();
    const onExit = () => reject(new Error(ENDED));
    const late = () => reject(new Error(`the thread did not answer within ${this.#patience / SECOND} s`));
    const timer = setTimeout(late, this.#patience);
    thread.once('message', resolve).once('error', reject).once('exit', onExit).ref();
    const fault = this.#faults.get(thread);
    if (fault) reject(fault);
    if (order) thread.postMessage(order);
    return promise.finally(() => {
      clearTimeout(timer);
      thread.off('message', resolve).off('error', reject).off('exit', onExit).unref();
    });
  }

  /** A thread that is inside SQLite ends when SQLite returns. */
  #giveUp(): void {
    const thread = this.#thread;
    this.#thread = null;
    if (!thread) return;
    this.#leaving = thread;
    // It may have ended already, and then there is no further event.
    void thread.terminate().then(() => {
      if (this.#leaving === thread) this.#leaving = null;
    });
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function startThread(work: CopyingWork): Worker {
  // The thread needs little memory. Without a limit, its garbage could grow as large as the whole program's.
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  if (typeof SNITCH_COPYING_THREAD === 'string') {
    return new Worker(SNITCH_COPYING_THREAD, { eval: true, workerData: work, resourceLimits });
  }
  return new Worker(new URL('./copying-thread.ts', import.meta.url), { workerData: work });
}

/**
 * Resolves when the thread has ended, after its last order. A thread that hangs is left until the process ends: a
 * connection that is still open harms nobody.
 */
function ended(thread: Worker, last?: CopyingOrder): Promise<void> {
  // It may have ended already.
  if (thread.threadId === -1) return Promise.resolve();
  return new Promise((resolve) => {
    const hangs = setTimeout(() => {
      thread.unref();
      void thread.terminate();
      resolve();
    }, END_WITHIN);
    thread.once('exit', () => {
      clearTimeout(hangs);
      resolve();
    });
    thread.ref();
    if (last) thread.postMessage(last);
  });
}

function errorOf(answer: CopyingAnswer): Error {
  if (answer.kind !== 'failed') return new Error('the thread answered out of turn');
  return Object.assign(new Error(answer.message), answer.code ? { code: answer.code } : {});
}
