/**
 * Sends the outbox of one channel: claims what is due, starts what may start, checks each lease before sending,
 * settles, and releases what is left when it stops. The channel itself only sends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../store/store.ts';
import type { Channel } from './channel.ts';
import { type Claimed, Claims, type Intake, intakeOf, leaseOf, SLICE } from './claims.ts';
import { InFlight } from './in-flight.ts';
import { Lanes, type Slot } from './lanes.ts';
import { attempt, type Outcome } from './outcome.ts';
import { ownClaim } from './own-claim.ts';
import { Paces } from './paces.ts';
import { PassLoop } from './pass-loop.ts';
import type { Settler } from './settler.ts';
import type { Spell } from './spell.ts';
import { firstPauseEnd, GroupedTarget, REMEMBERED, SingleTarget, type Target } from './target.ts';
import { leaseEndOf, type Message, madeBy, type Turn } from './turn.ts';

export interface ChannelLoopOptions {
  store: Pick<Store, 'claimDeliveries' | 'nextDeliveryAt' | 'keepPace' | 'listPaces'>;
  settler: Settler;
  clock: () => number;
  monotonic: () => number;
  /** Called at the first of several failures to read the outbox, and when they end. */
  onFailing: (channel: string, error: unknown) => void;
  onRecovered: (channel: string) => void;
  /** Claims from before this instant of the monotonic clock may have been taken over by another node. */
  heldSince: () => number;
  /** Aborted when sends in flight must be given up. */
  giveUp: AbortSignal;
  /** Shared by all channels. */
  spell: Spell;
}

export class ChannelLoop {
  readonly #options: ChannelLoopOptions;
  #channel: Channel;
  readonly #intake: Intake;
  readonly #passes: PassLoop;
  readonly #lanes: Lanes;
  readonly #targets = new Map<string, Target>();
  readonly #inFlight = new InFlight();
  readonly #claims: Claims;
  readonly #paces: Paces;
  /** How many deliveries are claimed and not started. */
  #waiting = 0;
  /** While a group is being gathered, none of it is sent: a digest takes everything that waits. */
  #gathering = false;
  #halted = false;

  constructor(channel: Channel, options: ChannelLoopOptions) {
    const { monotonic, onFailing, onRecovered } = options;
    const { kind, pace } = channel;
    this.#options = options;
    this.#channel = channel;
    this.#intake = intakeOf(channel);
    this.#lanes = new Lanes(pace);
    this.#claims = new Claims(options);
    this.#paces = new Paces(kind, options);
    this.#passes = new PassLoop({
      pass: () => this.#pass(),
      monotonic,
      onFailing: (err) => onFailing(kind, err),
      onRecovered: () => onRecovered(kind),
    });
  }

  get channel(): Channel {
    return this.#channel;
  }

  /** Sends and settlements that have not ended. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** How long ago the outbox was last read successfully, in milliseconds. */
  get sincePass(): number {
    return this.#passes.sincePass;
  }

  start(): void {
    this.#passes.start();
  }

  wake(): void {
    this.#passes.wake();
  }

  /** From now on sends go through `channel`, which has the same kind, pace and grouping; the old channel is retired. */
  replace(channel: Channel): void {
    this.#channel.retire();
    this.#channel = channel;
  }

  /** Claims and starts nothing more, releases what waits, and resolves when nothing is in flight. */
  async end(): Promise<void> {
    this.#halted = true;
    await this.#passes.stop();
    for (const target of this.#targets.values()) this.#release(target, 0);
    await this.#inFlight.ended();
  }

  /** Starts what may start, claims more if something is due, and returns how long to wait before looking again. */
  async #pass(): Promise<number> {
    const { store, clock, monotonic } = this.#options;
    const began = monotonic();
    if (this.#channel.grouping?.perMinute) await this.#paces.read();
    this.#startWaiting();
    const dueAt = await store.nextDeliveryAt();
    const now = clock();
    const due = dueAt !== null && dueAt <= now;
    const allClaimed = !due || (await this.#claimDue());
    if (allClaimed) this.#forget(began);
    this.#startWaiting();
    const untilDue = due || dueAt === null ? Number.POSITIVE_INFINITY : dueAt - now;
    return Math.min(untilDue, firstPauseEnd(this.#targets.values(), began) - monotonic());
  }

  /** @returns whether nothing that may be sent now is left in the outbox */
  async #claimDue(): Promise<boolean> {
    const grouped = this.#channel.grouping !== null;
    // A target with nothing waiting when the gathering began gets everything, slice by slice.
    const excluded = grouped ? this.#satisfied() : null;
    this.#gathering = grouped;
    const end = this.#options.monotonic() + this.#intake.gathering;
    try {
      while (this.#mayClaim(end)) {
        const limit = Math.min(SLICE, this.#intake.waiting - this.#waiting);
        const busy = excluded ?? this.#satisfied();
        const claimed = await this.#claims.take(this.#channel, this.#intake, limit, busy);
        await this.#accept(claimed);
        if (claimed.claims.length < limit) return true;
      }
      return false;
    } finally {
      this.#gathering = false;
      const now = this.#options.monotonic();
      for (const target of this.#targets.values()) if (target.isTooMuch(now)) this.#release(target, 0);
    }
  }

  #mayClaim(end: number): boolean {
    if (this.#halted || this.#options.monotonic() >= end) return false;
    return this.#waiting < this.#intake.waiting && this.#lanes.hasRoom('fast');
  }

  async #accept({ claims, leaseEnds }: Claimed): Promise<void> {
    const { off } = this.#channel;
    if (off !== null) {
      const own = claims.map((claim) => ownClaim(claim, leaseEnds));
      return this.#options.settler.settle(own, { kind: 'dead', error: off });
    }
    const touched = new Set<Target>();
    for (const claim of claims) {
      const target = this.#target(claim.target);
      target.add(claim, leaseEnds);
      this.#waiting += 1;
      touched.add(target);
    }
    for (const target of touched) {
      if (target.doubtful) this.#release(target, target.allowed - target.running);
    }
    this.#startWaiting();
  }

  #target(id: string): Target {
    const known = this.#targets.get(id);
    if (known) return known;
    const { grouping, pace } = this.#channel;
    const target = grouping ? new GroupedTarget(id, grouping) : new SingleTarget(id, pace);
    this.#paces.restore(target);
    this.#targets.set(id, target);
    return target;
  }

  /** The targets for which nothing more should be claimed now. */
  #satisfied(): string[] {
    const now = this.#options.monotonic();
    const room = this.#lanes.hasRoom('slow');
    const satisfied = [...this.#targets.values()].filter((target) => target.hasEnough(now, room));
    return [...satisfied.map(({ id }) => id), ...this.#options.settler.overdue(this.#channel.kind)];
  }

  /** Starts one turn of each target after the other, until none may start another; in several goes if many. */
  readonly #startWaiting = (): void => {
    if (this.#gathering || this.#halted) return;
    let ready = [...this.#targets.values()];
    while (ready.length > 0) ready = ready.filter((target) => this.#startOne(target));
  };

  #startOne(target: Target): boolean {
    const [turn] = target.waiting;
    if (!turn || !target.mayStart(this.#options.monotonic())) return false;
    if (!this.#options.spell.hasTime(this.#startWaiting)) return false;
    const slot = this.#lanes.enter(target.doubtful ? 'slow' : 'fast', () => this.#onSlow(target));
    if (!slot) return false;
    target.waiting.shift();
    this.#waiting -= turn.size;
    target.running += 1;
    target.start(this.#options.monotonic());
    // When places are few, the target that was sent to last comes last.
    this.#targets.delete(target.id);
    this.#targets.set(target.id, target);
    this.#inFlight.add(this.#run(target, turn, slot));
    return true;
  }

  async #run(target: Target, turn: Turn, slot: Slot): Promise<void> {
    const { settler, monotonic } = this.#options;
    try {
      const { now, later } = target.split(turn.messages(), monotonic());
      for (const { deliveries } of later) await settler.release(deliveries);
      await this.#sendAll(target, now, slot);
    } finally {
      slot.leave();
      target.rest(monotonic());
      target.running -= 1;
      this.#startWaiting();
      this.wake();
    }
  }

  /** Sends one message after the other. If one fails for now, the others to this target are not tried either. */
  async #sendAll(target: Target, messages: readonly Message[], slot: Slot): Promise<void> {
    const { settler, giveUp, monotonic } = this.#options;
    let failure: Outcome | null = null;
    for (const [index, message] of messages.entries()) {
      // If the lease may end during a send, another claim could send the same.
      const mayExpire = leaseEndOf(message) - monotonic() < this.#channel.pace.timeout;
      const isOver: boolean = giveUp.aborted || (!failure && mayExpire);
      const outcome: Outcome | null = isOver ? null : (failure ?? (await this.#send(target, message, index)));
      // Settling waits for the disk, and should not take a place from other sends.
      if (index === messages.length - 1) slot.leave();
      if (outcome === null || (giveUp.aborted && outcome.kind === 'retry')) {
        await settler.release(message.deliveries);
        continue;
      }
      if (!failure) this.#learn(target, outcome, slot);
      if (outcome.kind === 'retry') {
        if (!failure && outcome.holdFor !== undefined) await this.#paces.keep(target);
        failure = outcome;
      }
      await settler.settle(message.deliveries, outcome);
    }
  }

  /**
   * Null if another node may have taken it over. That is checked last, in the same turn of the event loop as the send:
   * a process that was suspended before then notices when it wakes up.
   *
   * @param index of the message in its turn
   */
  async #send(target: Target, message: Message, index: number): Promise<Outcome | null> {
    const { clock, giveUp } = this.#options;
    const gap = index > 0 ? (this.#channel.grouping?.gap ?? 0) : 0;
    // If the daemon stops meanwhile, the attempt fails at once and does not count.
    if (gap > 0) await sleep(gap, undefined, { signal: giveUp }).catch(() => undefined);
    if (this.#channel.grouping?.perMinute) await this.#paces.count(target, message.deliveries.length > 1);
    const made = madeBy(() => this.#channel, message, { target: target.id, now: clock(), stop: giveUp });
    // What is composed synchronously is sent in the same turn: the spell bounds both.
    const send = made instanceof Promise ? await made : made;
    if (leaseEndOf(message) - leaseOf(this.#channel, this.#intake) < this.#options.heldSince()) return null;
    return attempt(send);
  }

  #learn(target: Target, outcome: Outcome, slot: Slot): void {
    target.learn(outcome, slot.slow, this.#options.monotonic());
    if (target.doubtful) this.#release(target, 0);
  }

  #onSlow(target: Target): void {
    target.slow = true;
    this.#release(target, 0);
    this.wake();
  }

  /** Releases all but `keep` of the turns that a target has waiting. */
  #release(target: Target, keep: number): void {
    for (const turn of target.waiting.splice(Math.max(0, keep))) {
      this.#waiting -= turn.size;
      this.#inFlight.add(this.#options.settler.release(turn.deliveries()));
    }
  }

  /**
   * If alerts are grouped, a target with nothing waiting at the end of its wait has been quiet.
   *
   * @param began before anything was claimed: a wait that ended later has not been checked
   */
  #forget(began: number): void {
    const grouped = this.#channel.grouping !== null;
    if (!grouped && this.#targets.size <= REMEMBERED) return;
    for (const [id, target] of this.#targets) {
      const over = grouped ? target.notBefore <= began : !target.doubtful;
      if (target.forgettable(this.#options.monotonic()) && over) this.#targets.delete(id);
    }
  }
}
