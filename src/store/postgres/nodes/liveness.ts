/** Gives a sign of life each second, on a timer and a connection of its own, so that it waits for nothing else. */
import type { BlindWindow } from '../../../core/blind-window.ts';
import type { Primary } from '../hosts/primary.ts';
import type { Session } from '../hosts/session.ts';
import { giveSign, type Node, type OpenWindow, sayGoodbye } from './signs.ts';

export interface LivenessOptions {
  readonly primary: Pick<Primary, 'connect'>;
  readonly node: Node;
  /** How long all nodes may be silent without a blind window, in milliseconds. */
  readonly threshold: number;
  readonly open: OpenWindow;
  /** Likewise before this node begins, when a restart is no long silence; in milliseconds. */
  readonly firstThreshold?: number;
  /** Between two signs, in milliseconds. */
  readonly every?: number;
  /** The clock of this host, in milliseconds. */
  readonly clock?: () => number;
  /** A window was opened and committed by this node: its deadlines are to be postponed. */
  readonly onBlind?: (window: BlindWindow) => void;
}

const EVERY = 1_000;

/** A sign that takes longer is given up and tried on another connection. In milliseconds. */
const PATIENCE = 3_000;

export class Liveness {
  readonly #options: Required<LivenessOptions>;
  #session: Session | null = null;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isBusy = false;
  #fault: unknown = null;

  constructor(options: LivenessOptions) {
    this.#options = {
      every: EVERY,
      clock: Date.now,
      onBlind: () => undefined,
      firstThreshold: options.threshold,
      ...options,
    };
  }

  /** What kept the last sign from being given, or null. */
  get fault(): unknown {
    return this.#fault;
  }

  /**
   * Gives the first sign, which tells what the silence before it was, and goes on by itself.
   *
   * @throws what keeps the first sign from being given
   */
  async start(): Promise<void> {
    await this.#sign(true);
    this.#timer = setInterval(() => this.#tick(), this.#options.every);
  }

  /** Says goodbye where that can be done. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
    const session = this.#session;
    this.#session = null;
    if (!session || session.isBroken) return;
    await sayGoodbye(session.client, this.#options.node).catch(() => undefined);
    await session.end();
  }

  /** Signs never overlap: one that hangs ends by its own patience. */
  #tick(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#running = this.#sign()
      .catch(() => undefined)
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #sign(isFirst = false): Promise<void> {
    const { node, clock, open, onBlind } = this.#options;
    const threshold = isFirst ? this.#options.firstThreshold : this.#options.threshold;
    try {
      const { client } = await this.#connected();
      const verdict = await giveSign(client, { node, threshold, ownNow: clock, open, isFirst });
      this.#fault = null;
      if (verdict.kind === 'blind') onBlind(verdict.window);
    } catch (error) {
      this.#fault = error;
      this.#session?.destroy();
      this.#session = null;
      throw error;
    }
  }

  async #connected(): Promise<Session> {
    if (!this.#session || this.#session.isBroken)
      this.#session = await this.#options.primary.connect({
        purpose: 'liveness',
        answerWithinMs: PATIENCE,
        pipeline: false,
      });
    return this.#session;
  }
}
