/**
 * Sends the webhooks of the outbox. Fairness between targets:
 *
 * 1. A target has sends of its own only: one at first, up to `perTarget` while it answers well, one after a failure.
 * 2. A target that failed or was slow is sent to in the slow lane, where it takes nothing from the others.
 * 3. Between the sends to a target that goes on failing there is a pause that grows to a second.
 * 4. Only a target that answers well has deliveries claimed ahead; the others get theirs one by one.
 */
import type { Alert, Store, Webhook } from '../store/store.ts';
import { EXCHANGE_TIMEOUT, type WebhookSender } from './channels/webhook.ts';
import { type LaneLimits, Lanes, type Slot } from './outbox/lanes.ts';
import { attempt, type Outcome } from './outbox/outcome.ts';
import { type Held, hold, type Settler } from './outbox/settler.ts';

export interface WebhookLimits extends LaneLimits {
  /** For one exchange, in milliseconds. */
  timeout: number;
  /** Sends to one target at the same time. */
  perTarget: number;
}

export const WEBHOOK_LIMITS: WebhookLimits = {
  timeout: EXCHANGE_TIMEOUT,
  perTarget: 4,
  fast: 64,
  slow: 256,
  slowAfter: 1_000,
};

/** So many deliveries of one target are claimed at once, and again when half of them are on their way. */
const AHEAD = 8;

/** So many deliveries wait in memory, in all. */
const WAITING = 1_024;

/** So many are claimed in one call of the store, so that no call keeps others waiting. */
const SLICE = 64;

/** Time for settling beside the exchange itself, in milliseconds. */
const SETTLE_TIME = 15_000;

const PAUSE_STEP = 10;
const LONGEST_PAUSE = 1_000;

/** Above this number, targets that have nothing to do are forgotten. */
const REMEMBERED = 1_000;

interface Job {
  held: Held;
  webhook: Webhook | null;
  alert: Alert;
}

class Target {
  readonly id: string;
  readonly waiting: Job[] = [];
  /** Sends that are not settled yet. */
  running = 0;
  /** How many sends may run. */
  allowed = 1;
  /** Failures since the last success. */
  failures = 0;
  slow = false;
  /** No send before this instant of the monotonic clock. */
  notBefore = 0;

  constructor(id: string) {
    this.id = id;
  }

  get doubtful(): boolean {
    return this.slow || this.failures > 0;
  }

  get idle(): boolean {
    return this.running === 0 && this.waiting.length === 0;
  }

  learn(outcome: Outcome, slow: boolean, limits: WebhookLimits, now: number): void {
    if (outcome.kind === 'delivered') {
      this.failures = 0;
      this.slow = slow;
      this.allowed = Math.min(this.allowed * 2, limits.perTarget);
    } else if (outcome.kind === 'retry') {
      this.failures += 1;
      this.allowed = 1;
      this.notBefore = now + Math.min(PAUSE_STEP * this.failures, LONGEST_PAUSE);
    }
  }
}

export interface WebhookChannelOptions {
  store: Pick<Store, 'claimDeliveries' | 'nextDeliveryAt'>;
  sender: () => WebhookSender;
  settler: Settler;
  clock: () => number;
  monotonic: () => number;
  limits: WebhookLimits;
  /** Aborted when what is in flight must be given up. */
  giveUp: AbortSignal;
  wake: () => void;
}

export class WebhookChannel {
  readonly #options: WebhookChannelOptions;
  readonly #targets = new Map<string, Target>();
  readonly #lanes: Lanes;
  readonly #work = new Set<Promise<void>>();
  #waiting = 0;
  /** The target that the last claim ended with. */
  #after = '';
  #halted = false;

  constructor(options: WebhookChannelOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.limits);
  }

  get inFlight(): number {
    return this.#work.size;
  }

  /** Starts what may start, claims more where something is due, and answers when to look again. */
  async pass(): Promise<number> {
    const { store, clock, monotonic } = this.#options;
    const began = monotonic();
    this.#startWaiting();
    const dueAt = await store.nextDeliveryAt();
    const now = clock();
    if (dueAt === null) return Number.POSITIVE_INFINITY;
    if (dueAt > now) return dueAt - now;
    while (!this.#halted && this.#waiting < WAITING && this.#lanes.hasRoom('fast')) {
      const limit = Math.min(SLICE, WAITING - this.#waiting);
      if ((await this.#claim(limit)) < limit) break;
    }
    this.#forget();
    return this.#untilPauseEnds(began);
  }

  /** From now on nothing is claimed or started. */
  halt(): void {
    this.#halted = true;
  }

  /** Gives back what waits, and resolves when nothing is in flight. */
  async drain(): Promise<void> {
    for (const target of this.#targets.values()) this.#release(target, 0);
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #claim(limit: number): Promise<number> {
    const { store, clock, monotonic, limits } = this.#options;
    const lease = 2 * limits.timeout + SETTLE_TIME;
    const leaseEnds = monotonic() + lease;
    const now = clock();
    const claims = await store.claimDeliveries({
      now,
      channel: 'webhook',
      leaseUntil: now + lease,
      perTarget: AHEAD,
      limit,
      busy: this.#busy(),
      after: this.#after,
    });
    this.#after = claims.at(-1)?.target ?? '';
    const touched = new Set<Target>();
    for (const claim of claims) {
      const target = this.#target(claim.target);
      target.waiting.push({ held: hold(claim, leaseEnds), webhook: claim.webhook, alert: claim.alert });
      this.#waiting += 1;
      touched.add(target);
    }
    for (const target of touched) {
      if (target.doubtful) this.#release(target, target.allowed - target.running);
    }
    this.#startWaiting();
    return claims.length;
  }

  #target(id: string): Target {
    const known = this.#targets.get(id);
    if (known) return known;
    const target = new Target(id);
    this.#targets.set(id, target);
    return target;
  }

  /** The targets that have enough to do. */
  #busy(): string[] {
    const now = this.#options.monotonic();
    const slowRoom = this.#lanes.hasRoom('slow');
    const busy: string[] = [];
    for (const [id, target] of this.#targets) {
      const enough = target.doubtful
        ? !slowRoom || target.running + target.waiting.length >= target.allowed || now < target.notBefore
        : target.waiting.length >= AHEAD / 2;
      if (enough) busy.push(id);
    }
    return busy;
  }

  /** One send of each target in turn, until no target may start another. */
  #startWaiting(): void {
    let ready = [...this.#targets.values()];
    while (ready.length > 0) ready = ready.filter((target) => this.#startOne(target));
  }

  #startOne(target: Target): boolean {
    const { monotonic } = this.#options;
    if (this.#halted || target.running >= target.allowed || monotonic() < target.notBefore) return false;
    const [job] = target.waiting;
    if (!job) return false;
    const slot = this.#lanes.enter(target.doubtful ? 'slow' : 'fast', () => this.#onSlow(target));
    if (!slot) return false;
    target.waiting.shift();
    this.#waiting -= 1;
    target.running += 1;
    // The target that was sent to last comes last when places are few.
    this.#targets.delete(target.id);
    this.#targets.set(target.id, target);
    this.#track(this.#send(target, job, slot).finally(() => this.#ended(target)));
    return true;
  }

  async #send(target: Target, { held, webhook, alert }: Job, slot: Slot): Promise<void> {
    const { sender, settler, clock, monotonic, limits, giveUp } = this.#options;
    if (giveUp.aborted || held.leaseEnds - monotonic() < limits.timeout) {
      slot.leave();
      return settler.release([held]);
    }
    const outcome = await attempt(() => sender().send(webhook, alert, clock(), giveUp));
    slot.leave();
    if (giveUp.aborted && outcome.kind === 'retry') return settler.release([held]);
    target.learn(outcome, slot.slow, limits, monotonic());
    if (target.doubtful) this.#release(target, 0);
    await settler.settle([held], outcome);
  }

  #onSlow(target: Target): void {
    target.slow = true;
    this.#release(target, 0);
    this.#options.wake();
  }

  #ended(target: Target): void {
    target.running -= 1;
    this.#startWaiting();
    this.#options.wake();
  }

  /** Gives back all but `keep` of what a target has waiting. */
  #release(target: Target, keep: number): void {
    const released = target.waiting.splice(Math.max(0, keep));
    if (released.length === 0) return;
    this.#waiting -= released.length;
    this.#track(this.#options.settler.release(released.map(({ held }) => held)));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  /** Until the first of the pauses that had not ended at `began`. */
  #untilPauseEnds(began: number): number {
    const pauses = [...this.#targets.values()].map(({ notBefore }) => notBefore);
    const pending = pauses.filter((notBefore) => notBefore > began);
    return Math.min(...pending) - this.#options.monotonic();
  }

  #forget(): void {
    if (this.#targets.size <= REMEMBERED) return;
    for (const [id, target] of this.#targets) {
      if (target.idle && !target.doubtful) this.#targets.delete(id);
    }
  }
}
