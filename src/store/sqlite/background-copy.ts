/** Has the log copied into the database by a thread of its own, which is started when it is needed and ends after. */
import { Worker } from 'node:worker_threads';
import { MINUTE, SECOND } from '../../text/durations.ts';
import { addonFile } from './addon.ts';
import type { CopyingAnswer, CopyingOrder, CopyingWork } from './copying-thread.ts';

/** The code of the thread, which the build puts here; without it, from sources, the thread loads its own file. */
declare const SNITCH_COPYING_THREAD: string | undefined;

/** How long it may take to answer, in milliseconds. */
const PATIENCE = 30 * SECOND;

/** How long its end may take, in milliseconds. */
const END_WITHIN = 5 * SECOND;

/** How long it is kept when nothing is to be copied, in milliseconds: it costs some megabytes. */
const KEPT = 3 * MINUTE;

const ENDED = 'the thread ended';

/** Copies what is in the log when it is asked, while others write to the log. */
export interface BackgroundCopy {
  /**
   * @returns how many frames of the log it had to leave because somebody reads an older state
   * @throws Error with SQLite's code where SQLite refused; anything else means that no thread can do it now
   */
  copy(): Promise<{ left: number }>;
  /** Ends the thread, after what it has to do. */
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
  /** The one that was given up and has not ended yet. */
  #leaving: Worker | null = null;
  /** Why threads failed or ended: that may come while nobody asks. */
  readonly #faults = new WeakMap<Worker, Error>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param path of the database
   * @param isInPlace whether the database and its log are still the ones at that path, which a connection opens anew
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
    // Whoever asks is told as well; without a listener it would end the process.
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

  /** Only while it is asked the thread keeps the process alive. */
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

  /** A thread that is within SQLite ends when it comes back from there. */
  #giveUp(): void {
    const thread = this.#thread;
    this.#thread = null;
    if (!thread) return;
    this.#leaving = thread;
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
  // The thread needs little memory. Without a limit it would let garbage grow as far as the whole program may.
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  if (typeof SNITCH_COPYING_THREAD === 'string') {
    return new Worker(SNITCH_COPYING_THREAD, { eval: true, workerData: work, resourceLimits });
  }
  return new Worker(new URL('./copying-thread.ts', import.meta.url), { workerData: work });
}

/**
 * Resolves when the thread has ended, after what it is told last. One that hangs is left to the end of the process: a
 * connection that is still open harms nobody.
 */
function ended(thread: Worker, last?: CopyingOrder): Promise<void> {
  // It may have ended by itself.
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
