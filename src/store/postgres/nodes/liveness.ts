/** Gives a sign of life each second, on a timer and a connection of its own, so that it waits for nothing else. */
import type { BlindWindow } from '../../../core/blind-window.ts';
import type { Primary } from '../hosts/primary.ts';
import type { Session } from '../hosts/session.ts';
import { type Answer, DEAD_AFTER, giveSign, type Node, type OpenWindow, sayGoodbye } from './signs.ts';
import { type Instant, Trust } from './trust.ts';
import { lostWrites } from './verdict.ts';

export interface LivenessOptions {
  readonly primary: Pick<Primary, 'connect'>;
  readonly node: Node;
  /** How long all nodes may be silent without a blind window, in milliseconds. */
  readonly threshold: number;
  readonly open: OpenWindow;
  /** The same for this node's first sign, so that a restart counts as no long gap; in milliseconds. */
  readonly firstThreshold?: number;
  /** Between two signs, in milliseconds. */
  readonly every?: number;
  /** The clock of this host, in milliseconds. */
  readonly clock?: () => number;
  /** Called when this node has opened and committed a window: deadlines must now be postponed for it. */
  readonly onBlind?: (window: BlindWindow) => void;
  /**
   * Called when another node is dead and its claims are not released yet; again with each sign until they are.
   *
   * @param areAll whether every silent node is dead; if not, only those that the database proves to be dead
   */
  readonly onDead?: (areAll: boolean) => void;
  /** Called with the time whose writes the database lacks: a standby without them was promoted, or a copy restored. */
  readonly onLost?: (window: BlindWindow) => void;
  /** Called with how far this host's clock is ahead of the database's, in milliseconds, on each ordinary sign. */
  readonly onClock?: (aheadMs: number) => void;
  /** Called on each sign with the database's time and the monotonic time of the request, both in milliseconds. */
  readonly onTime?: (asked: number, told: number) => void;
  /** How long this node must have lived without a gap before it takes a silent one for dead, in milliseconds. */
  readonly deadAfter?: number;
}

const EVERY = 1_000;

/** A sign that takes longer is abandoned and tried on another connection. In milliseconds. */
const PATIENCE = 3_000;

export class Liveness {
  readonly #options: Required<LivenessOptions>;
  #session: Session | null = null;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isBusy = false;
  #fault: unknown = null;
  #lastSign = 0;
  /** The monotonic time at which that sign was sent. */
  #lastAsked = 0;
  readonly #trust: Trust;

  constructor(options: LivenessOptions) {
    this.#options = {
      every: EVERY,
      clock: Date.now,
      onBlind: () => undefined,
      onLost: () => undefined,
      onDead: () => undefined,
      onClock: () => undefined,
      onTime: () => undefined,
      firstThreshold: options.threshold,
      deadAfter: DEAD_AFTER,
      ...options,
    };
    this.#trust = new Trust({ provesFor: options.threshold, deadAfter: this.#options.deadAfter });
  }

  /** The newest sign that was answered, by the clock of the database in milliseconds; 0 before the first. */
  get lastSign(): number {
    return this.#lastSign;
  }

  /** What prevented the last sign, or null. */
  get fault(): unknown {
    return this.#fault;
  }

  /**
   * Claims made since then, by `performance.now()`, are still this node's. Infinite while its own signs are missing,
   * because another node may have taken everything over.
   */
  get heldSince(): number {
    return this.#trust.heldSince(this.#instant());
  }

  /**
   * Whether this node has lived without a gap for so long that other living nodes have caught up with what they could
   * not do while the database was away: above all, with recording what they had sent.
   */
  get mayTakeOver(): boolean {
    return this.#trust.mayBury(this.#instant());
  }

  /**
   * Gives the first sign, which decides what the gap before it was, and then continues on a timer. Can be called
   * again if something else failed during a start.
   *
   * @param heldSocket see `ClusterNode.begin`
   * @throws whatever prevents the first sign
   */
  async start(heldSocket: string | null = null): Promise<void> {
    await this.#sign(true, heldSocket);
    this.#timer ??= setInterval(() => this.#tick(), this.#options.every);
  }

  /** Says goodbye if possible. */
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

  /** Signs never overlap: one that hangs ends at its own time limit. */
  #tick(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#running = this.#sign()
      .catch(() => undefined)
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #sign(isFirst = false, heldSocket: string | null = null): Promise<void> {
    const { node, clock, open, onBlind, onDead, onClock, onTime } = this.#options;
    const threshold = isFirst ? this.#options.firstThreshold : this.#options.threshold;
    try {
      const { client } = await this.#connected();
      const asked = this.#instant();
      const answer = await giveSign(client, { node, threshold, ownNow: clock, open, isFirst, heldSocket });
      onTime(asked.monotonic, answer.databaseNow);
      const { verdict, wasFreed, hasDead, hasProven, clockAheadMs } = answer;
      const now = this.#instant();
      this.#trust.signed(asked, now, { wasFreed, isUsual: verdict.kind === 'alive' });
      this.#fault = null;
      this.#compare(answer, asked, now);
      onClock(clockAheadMs);
      const areAll = this.#trust.mayBury(now);
      if (hasProven || (hasDead && areAll)) onDead(areAll);
      if (verdict.kind === 'blind') onBlind(verdict.window);
    } catch (error) {
      this.#fault = error;
      this.#trust.failed();
      this.#session?.destroy();
      this.#session = null;
      throw error;
    }
  }

  #compare({ kept, databaseNow }: Answer, asked: Instant, answered: Instant): void {
    const { threshold, onLost } = this.#options;
    const own = { known: this.#lastSign, elapsed: answered.monotonic - this.#lastAsked };
    this.#lastSign = kept.last;
    this.#lastAsked = asked.monotonic;
    const lost = lostWrites({ ...own, kept: kept.before, now: databaseNow }, threshold);
    if (lost !== null) onLost(lost);
  }

  #instant(): Instant {
    return { monotonic: performance.now(), wall: this.#options.clock() };
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
