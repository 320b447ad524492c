/**
 * What is known of one target: what waits for it, and when it may be sent to. Fairness between targets:
 *
 * 1. A target has sends of its own only: one at first, up to `perTarget` while it answers well, one after a failure.
 * 2. Sends to a target that failed or was slow use the slow lane, where they take nothing from the others.
 * 3. Between the sends to a target that keeps failing there is a pause, which grows to a second.
 * 4. Only a target that answers well and quickly has deliveries claimed ahead; the others get theirs one by one.
 *
 * If alerts are grouped, a target has one turn at a time. The first alert after a quiet time is sent at once; what
 * comes within the wait after a turn is claimed when the wait ends, and sent together.
 */
import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { KeptPace } from '../../store/paces.ts';
import { HOUR } from '../../text/durations.ts';
import type { Grouping, Pace } from './channel.ts';
import { MessagePace } from './message-pace.ts';
import type { Outcome } from './outcome.ts';
import { DIGEST_OVER, GroupedTurn, type Message, singleTurn, type Turn } from './turn.ts';

/**
 * How many deliveries are claimed ahead for a target that gets each on its own; more are claimed when half are sent.
 */
export const AHEAD = 8;

/** Above this number, targets that have nothing to do are forgotten. */
export const REMEMBERED = 1_000;

/** The pause grows by this much with each failure in a row, in milliseconds. */
const PAUSE_STEP = 10;
const LONGEST_PAUSE = 1_000;

/** The longest wait that a target can ask for, in milliseconds: somebody may have fixed it meanwhile. */
const LONGEST_HOLD = HOUR;

export abstract class Target {
  readonly id: string;
  /** Turns that are claimed and not started. */
  readonly waiting: Turn[] = [];
  /** Turns that are not settled yet. */
  running = 0;
  /** How many turns may run at the same time. */
  allowed = 1;
  slow = false;
  /** No turn before this instant of the monotonic clock. */
  notBefore = 0;
  /** Until when the target itself asked to be left alone. */
  heldUntil = 0;
  /** Failures since the last success. */
  #failures = 0;
  readonly #perTarget: number;

  constructor(id: string, perTarget: number) {
    this.id = id;
    this.#perTarget = perTarget;
  }

  get doubtful(): boolean {
    return this.slow || this.#failures > 0;
  }

  get idle(): boolean {
    return this.running === 0 && this.waiting.length === 0;
  }

  /** Whether nothing that is known of it matters any more. */
  forgettable(now: number): boolean {
    return this.idle && this.heldUntil <= now;
  }

  mayStart(now: number): boolean {
    return this.running < this.allowed && now >= this.notBefore;
  }

  learn(outcome: Outcome, slow: boolean, now: number): void {
    if (outcome.kind === 'delivered') {
      this.#failures = 0;
      this.slow = slow;
      this.allowed = Math.min(this.allowed * 2, this.#perTarget);
    } else if (outcome.kind === 'retry') {
      this.#failures += 1;
      this.allowed = 1;
      this.notBefore = Math.max(this.heldUntil, now + Math.min(PAUSE_STEP * this.#failures, LONGEST_PAUSE));
      if (outcome.holdFor !== undefined) this.hold(outcome.holdFor, now);
    }
  }

  /** The target asks to be sent nothing, whichever alert it is, for `time` milliseconds. */
  hold(time: number, now: number): void {
    this.heldUntil = Math.max(this.heldUntil, now + Math.min(time, LONGEST_HOLD));
    this.notBefore = Math.max(this.notBefore, this.heldUntil);
  }

  /** A turn begins. */
  abstract start(now: number): void;

  abstract add(claim: ClaimedDelivery, leaseEnds: number): void;

  /** Whether nothing more should be claimed for it now. */
  abstract hasEnough(now: number, slowLaneHasRoom: boolean): boolean;

  /** Whether what was claimed must go back to the outbox, because it may not be sent for some time. */
  isTooMuch(_now: number): boolean {
    return false;
  }

  /** The messages of a turn: those for now, and those to release. */
  abstract split(messages: Message[], now: number): { now: Message[]; later: Message[] };

  /** A turn has ended. */
  abstract rest(now: number): void;
}

/** A target that gets each alert on its own. */
export class SingleTarget extends Target {
  readonly #gap: number;

  constructor(id: string, { perTarget, gap = 0 }: Pick<Pace, 'perTarget' | 'gap'>) {
    super(id, perTarget);
    this.#gap = gap;
  }

  start(now: number): void {
    this.notBefore = Math.max(this.notBefore, now + this.#gap);
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    this.waiting.push(singleTurn(claim, leaseEnds));
  }

  hasEnough(now: number, slowLaneHasRoom: boolean): boolean {
    // What would have to wait is claimed only when its turn comes: somebody may acknowledge it meanwhile.
    if (!this.doubtful && this.#gap > 0) return !this.idle || now < this.notBefore;
    if (!this.doubtful) return this.waiting.length >= AHEAD / 2;
    return !slowLaneHasRoom || this.running + this.waiting.length >= this.allowed || now < this.notBefore;
  }

  split(messages: Message[]): { now: Message[]; later: Message[] } {
    return { now: messages, later: [] };
  }

  /** The gap also counts from the end of a send: the previous one must have arrived. */
  rest(now: number): void {
    if (this.#gap > 0) this.notBefore = Math.max(this.notBefore, now + this.#gap);
  }
}

/** A target that gets everything that waits together. */
export class GroupedTarget extends Target {
  readonly #wait: number;
  readonly #pace: MessagePace | null;
  #quiet = true;

  constructor(id: string, { wait, perMinute }: Pick<Grouping, 'wait' | 'perMinute'>) {
    super(id, 1);
    this.#wait = wait;
    this.#pace = perMinute ? new MessagePace(perMinute) : null;
  }

  override mayStart(now: number): boolean {
    return super.mayStart(now) && this.#roomAt(now) <= now;
  }

  /**
   * Whether what was gathered would be one message too many for this minute. It is gathered again when there is room,
   * so nobody is told about what was acknowledged meanwhile.
   */
  override isTooMuch(now: number): boolean {
    if (this.waiting.length === 0 || this.#roomAt(now) <= now) return false;
    this.notBefore = Math.max(this.notBefore, this.#roomAt(now));
    return true;
  }

  #roomAt(now: number): number {
    const digest = !this.#quiet && (this.waiting[0]?.size ?? 0) > DIGEST_OVER;
    return this.#pace?.nextRoomAt(digest, now) ?? now;
  }

  start(): void {}

  /** A message is about to be sent. */
  note(digest: boolean, now: number): void {
    this.#pace?.note(digest, now);
  }

  override learn(outcome: Outcome, slow: boolean, now: number): void {
    super.learn(outcome, slow, now);
    this.#pace?.arrived(now);
  }

  /** What the next start has to know; null if messages are not limited. */
  pace(now: number, wall: number): KeptPace | null {
    if (!this.#pace) return null;
    const held = this.heldUntil > now ? wall + (this.heldUntil - now) : null;
    return { sent: this.#pace.kept(now, wall), heldUntil: held };
  }

  /** What was sent before the start still counts, and so does a wait that the service asked for. */
  restore({ sent, heldUntil }: KeptPace, now: number, wall: number): void {
    this.#pace?.restore(sent, now, wall);
    this.#quiet = this.#pace?.isQuiet(now) ?? true;
    if (heldUntil !== null) this.hold(heldUntil - wall, now);
    if (!this.#quiet) this.#waitFrom(now);
  }

  /** Whether it can be forgotten what it was sent. */
  override forgettable(now: number): boolean {
    return super.forgettable(now) && (this.#pace?.isQuiet(now) ?? true);
  }

  add(claim: ClaimedDelivery, leaseEnds: number): void {
    const [waiting] = this.waiting;
    const turn = waiting instanceof GroupedTurn ? waiting : new GroupedTurn();
    turn.add(claim, leaseEnds);
    this.waiting[0] = turn;
  }

  hasEnough(now: number): boolean {
    return !this.idle || now < this.notBefore;
  }

  /**
   * A target that was quiet gets one message at once; the rest waits for more to join it. So does what would be too
   * much within a minute.
   */
  split(messages: Message[], now: number): { now: Message[]; later: Message[] } {
    const digest = messages.some(({ deliveries }) => deliveries.length > 1);
    const room = this.#pace?.room(digest, now) ?? messages.length;
    const count = this.#quiet ? 1 : Math.max(1, room);
    this.#quiet = false;
    return { now: messages.slice(0, count), later: messages.slice(count) };
  }

  rest(now: number): void {
    this.#waitFrom(now);
  }

  /** While no further message may be sent, nothing is claimed: what comes meanwhile joins the next one. */
  #waitFrom(now: number): void {
    const room = this.#pace?.nextRoomAt(false, now) ?? now;
    this.notBefore = Math.max(this.notBefore, now + this.#wait, room);
  }
}

/** When the first pause ends that had not ended at `began`; infinite if there is none. */
export function firstPauseEnd(targets: Iterable<Target>, began: number): number {
  return Math.min(...[...targets].map(({ notBefore }) => notBefore).filter((end) => end > began));
}
