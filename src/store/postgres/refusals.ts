/**
 * Makes up for what this node refused. Only its own memory knows of that, and another node that sweeps may accuse those
 * very jobs. So the blind window is written as soon as the first check-in is refused, on a connection that nothing else
 * of this node waits for, and again after each sign of life until nothing is left.
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
 * Between two writes during a flood of refusals, in milliseconds: short enough for a sweep that waits a moment, and no
 * load when hundreds are refused in a second.
 */
const PAUSE = 200;

export interface RefusalsOptions {
  /** The id of this node. */
  readonly node: string;
  readonly runner: PostgresRunner;
  /** This host's clock, corrected by the database's; in milliseconds. */
  readonly clock: () => number;
  /**
   * False while signs of life are missing: the first one that succeeds opens the window of all nodes, if there was one.
   */
  readonly mayAnswer: () => boolean;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  /** Windows that were opened but not yet returned by `answer`. */
  readonly #opened: BlindWindow[] = [];
  #last: Promise<void> = Promise.resolve();
  #isUnderWay = false;
  #hasFailed = false;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** To be called for each check-in that the database itself refused. It never fails: what is left is for `again`. */
  tell(): void {
    // One attempt for each refusal would be too much for a database in trouble.
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

  /** Callers of `answer` get a turn between two writes: a flood must not hold up the sweep. */
  async #untilNone(): Promise<void> {
    const { runner } = this.#options;
    while (runner.refusedCheckIns !== null) {
      await this.#inTurn(() => this.#write());
      if (runner.refusedCheckIns !== null) await sleep(PAUSE, undefined, { ref: false });
    }
  }

  /** @returns each opened window once; one that continues it before it is asked for is joined to it */
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
   * What the database itself refused, it would have refused to any node. If only this node could not reach it, another
   * one may have accepted the check-ins, because the balancer or the client had to send them there.
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
