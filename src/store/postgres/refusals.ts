/**
 * Makes up for what this node refused. Only its own memory knows of that, and another node that sweeps may accuse the very
 * jobs: so the blind window is written as soon as the first check-in was refused, on no connection that anything else of
 * this node waits for, and again behind each sign of life until nothing is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BlindWindow, beyond } from '../../core/blind-window.ts';
import {
  listWindowsSince,
  openBlindWindow,
  SOON_AGAIN,
  widenUntouched,
} from '../operations/blind-windows.ts';
import { OTHERS_LIVED } from './nodes/signs.ts';
import type { PostgresRunner } from './postgres-runner.ts';

/**
 * Between two writes of one flood of refusals, in milliseconds: soon enough for a sweep that waits a moment, and no load where
 * hundreds are refused in a second.
 */
const PAUSE = 200;

export interface RefusalsOptions {
  /** The id of this node. */
  readonly node: string;
  readonly runner: PostgresRunner;
  /** The clock of this host, set right by that of the database; in milliseconds. */
  readonly clock: () => number;
  /** False while signs of life are missing: the one that comes first then opens the window of all nodes, if there was one. */
  readonly mayAnswer: () => boolean;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  /** What was opened, and not answered yet. */
  readonly #opened: BlindWindow[] = [];
  #last: Promise<void> = Promise.resolve();
  #isUnderWay = false;
  #hasFailed = false;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** To be called with each check-in that the database itself refused. It never fails: what is left is for `again`. */
  tell(): void {
    // One attempt for each refusal would be too much for a database that can do so little.
    if (!this.#hasFailed) this.again();
  }

  /** To be called now and then. */
  again(): void {
    const { runner, mayAnswer } = this.#options;
    if (this.#isUnderWay || runner.refusedCheckIns === null || !mayAnswer()) return;
    this.#isUnderWay = true;
    const done = (hasFailed: boolean) => {
      this.#isUnderWay = false;
      this.#hasFailed = hasFailed;
    };
    this.#untilNone().then(
      () => done(false),
      () => done(true),
    );
  }

  /** Who asks what was opened has a turn between two writes: a flood must not keep back the sweep. */
  async #untilNone(): Promise<void> {
    const { runner } = this.#options;
    while (runner.refusedCheckIns !== null) {
      await this.#inTurn(() => this.#write());
      if (runner.refusedCheckIns !== null) await sleep(PAUSE, undefined, { ref: false });
    }
  }

  /** @returns each window that was opened, once; what follows at its end until it is asked for is of the same one */
  async answer(): Promise<BlindWindow | null> {
    if (this.#options.mayAnswer()) await this.#inTurn(() => this.#write());
    return this.#opened.shift() ?? null;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const running = this.#last.then(work);
    this.#last = running.catch(() => undefined);
    return running;
  }

  /**
   * What the database itself refused, it would have refused to any node. Where this node did not reach it, another one may
   * have taken the check-ins, which the balancer or the client had to send there.
   */
  async #write(): Promise<void> {
    const { runner, node, clock } = this.#options;
    const { refused, refusedCheckIns } = runner;
    if (refused === null) return;
    const opened = await runner.writeAside(async (tx) => {
      await tx.lock('blind windows');
      const now = clock();
      const ago = [now - refused.start, now - refused.end];
      const lived = await tx.get<{ lived: number }>(OTHERS_LIVED, node, ...ago);
      const blind = lived?.lived === 1 ? refusedCheckIns : refused;
      if (blind === null) return [];
      const windows = beyond(blind, await listWindowsSince(tx, blind.start - 1));
      for (const window of windows)
        if (!(await widenUntouched(tx, window))) await openBlindWindow(tx, window);
      return windows;
    });
    runner.forgetRefused(refused);
    for (const window of opened) this.#note(window);
  }

  #note({ start, end }: BlindWindow): void {
    const last = this.#opened.at(-1);
    const isSame = last !== undefined && last.end <= start && start <= last.end + SOON_AGAIN;
    if (isSame) this.#opened.splice(-1, 1, { start: last.start, end });
    else this.#opened.push({ start, end });
  }
}
