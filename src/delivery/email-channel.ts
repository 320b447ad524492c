/**
 * Sends the emails of the outbox. For each recipient:
 *
 * 1. One message at a time, so that a recipient whose server dawdles holds up nobody else.
 * 2. The first alert after a quiet time goes out at once.
 * 3. Those that come within the group wait after a send wait until it ends; then they go out together: more than
 *    `DIGEST_OVER` of a case as one digest, fewer one by one.
 */

import type { Store } from '../store/store.ts';
import { MINUTE } from '../text/durations.ts';
import { type LaneLimits, Lanes, type Slot } from './outbox/lanes.ts';
import { attempt, type Outcome } from './outbox/outcome.ts';
import { hold, type Settler } from './outbox/settler.ts';
import { type PlannedMessage, Turn } from './outbox/turn.ts';
import type { Mailer } from './smtp/mailer.ts';

export interface EmailLimits extends LaneLimits {
  /** For one send, in milliseconds. */
  timeout: number;
  /** How long further alerts for a recipient wait after a send, in milliseconds. */
  groupWait: number;
}

export const EMAIL_LIMITS: EmailLimits = {
  timeout: 60_000,
  groupWait: 5_000,
  fast: 5,
  slow: 5,
  slowAfter: 5_000,
};

/** The number of connections to the mail server that `limits` can use. */
export function connectionsFor({ fast, slow }: EmailLimits): number {
  return fast + slow;
}

/** So many deliveries are claimed in one call of the store, so that no call keeps others waiting. */
const SLICE = 64;

/** So many are claimed before the first is sent: a digest takes all that waits, up to this. */
const GATHERED = 50_000;

/** Time for claiming and settling beside the send itself, in milliseconds. */
const SETTLE_TIME = MINUTE;

const OFF: Outcome = { kind: 'dead', error: 'email is off: set smtp.url and smtp.from' };

interface Recipient {
  /** Whether a turn waits for its place or is being sent. */
  busy: boolean;
  slow: boolean;
  /** When the group wait after the last send ends, on the monotonic clock. */
  quietUntil: number;
}

export interface EmailChannelOptions {
  store: Pick<Store, 'claimDeliveries' | 'nextDeliveryAt'>;
  /** Null where email is off. */
  mailer: () => Mailer | null;
  settler: Settler;
  clock: () => number;
  monotonic: () => number;
  limits: EmailLimits;
  /** Aborted when what is in flight must be given up. */
  giveUp: AbortSignal;
  wake: () => void;
}

export class EmailChannel {
  readonly #options: EmailChannelOptions;
  /** Recipients that are busy or within their group wait; all others are idle. */
  readonly #recipients = new Map<string, Recipient>();
  readonly #lanes: Lanes;
  readonly #work = new Set<Promise<void>>();
  #waiting: Turn[] = [];
  /** The target that the last claim ended with. */
  #after = '';
  #halted = false;

  constructor(options: EmailChannelOptions) {
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
    const due = dueAt !== null && dueAt <= now;
    if (!due) this.#forgetIdle(began);
    else if (this.#waiting.length === 0) await this.#gather(began);
    this.#startWaiting();
    const untilDue = due || dueAt === null ? Number.POSITIVE_INFINITY : dueAt - now;
    return Math.min(untilDue, this.#untilGroupIsReady(began));
  }

  /** From now on nothing is claimed or started. */
  halt(): void {
    this.#halted = true;
  }

  /** Gives back what waits, and resolves when nothing is in flight. */
  async drain(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const turn of waiting) this.#track(this.#release(turn.plan()));
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Claims all that is due for recipients who may be sent to, a slice a call. */
  async #gather(began: number): Promise<void> {
    const turns = new Map<string, Turn>();
    let gathered = 0;
    let claimed = SLICE;
    while (!this.#halted && claimed === SLICE && gathered < GATHERED) {
      claimed = await this.#claim(turns);
      gathered += claimed;
    }
    if (claimed < SLICE) this.#forgetIdle(began, turns);
    this.#waiting.push(...turns.values());
  }

  /**
   * Where nothing waited for the end of the group wait, the next alert finds the recipient idle.
   *
   * @param began before anything was claimed: a wait that ended later has not been looked at
   */
  #forgetIdle(began: number, turns: ReadonlyMap<string, Turn> = new Map()): void {
    for (const [address, { busy, quietUntil }] of this.#recipients) {
      if (!busy && quietUntil <= began && !turns.has(address)) this.#recipients.delete(address);
    }
  }

  async #claim(turns: Map<string, Turn>): Promise<number> {
    const { store, mailer, settler, clock, monotonic, limits } = this.#options;
    const lease = 2 * limits.timeout + SETTLE_TIME;
    const leaseEnds = monotonic() + lease;
    const now = clock();
    const claims = await store.claimDeliveries({
      now,
      channel: 'email',
      leaseUntil: now + lease,
      perTarget: GATHERED,
      limit: SLICE,
      busy: this.#busy(),
      after: this.#after,
    });
    this.#after = claims.at(-1)?.target ?? '';
    if (!mailer()) {
      await settler.settle(
        claims.map((claim) => hold(claim, leaseEnds)),
        OFF,
      );
      return claims.length;
    }
    for (const claim of claims) {
      const turn = turns.get(claim.target) ?? new Turn(claim.target);
      turns.set(claim.target, turn);
      turn.add(claim, leaseEnds);
    }
    return claims.length;
  }

  #busy(): string[] {
    const now = this.#options.monotonic();
    return [...this.#recipients]
      .filter(([, { busy, quietUntil }]) => busy || quietUntil > now)
      .map(([address]) => address);
  }

  #startWaiting(): void {
    this.#waiting = this.#waiting.filter((turn) => !this.#start(turn));
  }

  #start(turn: Turn): boolean {
    if (this.#halted) return false;
    const known = this.#recipients.get(turn.recipient);
    const recipient = known ?? { busy: false, slow: false, quietUntil: 0 };
    const slot = this.#lanes.enter(recipient.slow ? 'slow' : 'fast', () => this.#options.wake());
    if (!slot) return false;
    this.#recipients.set(turn.recipient, recipient);
    recipient.busy = true;
    const messages = turn.plan();
    // A recipient who was idle is told of one thing at once; what else came waits for more of its kind.
    const [now, later] = known ? [messages, []] : [messages.slice(0, 1), messages.slice(1)];
    this.#track(this.#run(turn.recipient, recipient, now, later, slot));
    return true;
  }

  async #run(
    address: string,
    recipient: Recipient,
    messages: readonly PlannedMessage[],
    later: readonly PlannedMessage[],
    slot: Slot,
  ): Promise<void> {
    const { monotonic, limits, wake } = this.#options;
    try {
      await this.#release(later);
      await this.#sendAll(address, messages);
    } finally {
      slot.leave();
      recipient.slow = slot.slow;
      recipient.quietUntil = monotonic() + limits.groupWait;
      recipient.busy = false;
      wake();
    }
  }

  async #sendAll(address: string, messages: readonly PlannedMessage[]): Promise<void> {
    const { mailer, settler, monotonic, limits, giveUp } = this.#options;
    let failure: Outcome | null = null;
    for (const { deliveries, compose } of messages) {
      const [first] = deliveries;
      const through = mailer();
      const expiring = first !== undefined && first.leaseEnds - monotonic() < limits.timeout;
      if (giveUp.aborted || (expiring && !failure)) {
        await settler.release(deliveries);
        continue;
      }
      // What keeps one message from a recipient for now keeps the others from them too.
      const outcome: Outcome =
        failure ??
        (through ? await attempt(() => through.send(compose(through.domain), address, giveUp)) : OFF);
      if (giveUp.aborted && outcome.kind === 'retry') {
        await settler.release(deliveries);
        continue;
      }
      if (outcome.kind === 'retry') failure = outcome;
      await settler.settle(deliveries, outcome);
    }
  }

  async #release(messages: readonly PlannedMessage[]): Promise<void> {
    for (const { deliveries } of messages) await this.#options.settler.release(deliveries);
  }

  /** Until the first of the group waits that had not ended at `began`. */
  #untilGroupIsReady(began: number): number {
    const waits = [...this.#recipients.values()].filter(
      ({ busy, quietUntil }) => !busy && quietUntil > began,
    );
    return Math.min(...waits.map(({ quietUntil }) => quietUntil)) - this.#options.monotonic();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }
}
