/** How many messages were sent to a chat in the last minute, and whether more may be sent now. */
import type { KeptPace } from '../../store/paces.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Grouping } from './channel.ts';

/** Instants are on the monotonic clock, unless named `wall`. */
export class MessagePace {
  readonly #limits: NonNullable<Grouping['perMinute']>;
  #sent: { at: number; digest: boolean }[] = [];

  constructor(limits: NonNullable<Grouping['perMinute']>) {
    this.#limits = limits;
  }

  /** Whether nothing was sent in the last minute. */
  isQuiet(now: number): boolean {
    return this.#recent(now).length === 0;
  }

  /**
   * How many messages can be sent now.
   *
   * @param digest whether a digest waits
   */
  room(digest: boolean, now: number): number {
    const recent = this.#recent(now);
    return Math.max(0, this.#limit(digest, recent) - recent.length);
  }

  /** A message is about to be sent. */
  note(digest: boolean, now: number): void {
    const recent = this.#recent(now);
    this.#sent = [...recent, { at: now, digest: digest || recent.some((one) => one.digest) }];
  }

  /** The last message has arrived by now: services count what they receive, and a slow host sends slowly. */
  arrived(now: number): void {
    const last = this.#sent.at(-1);
    if (last) last.at = Math.max(last.at, now);
  }

  /** When there is room for one more. @param digest whether a digest waits */
  nextRoomAt(digest: boolean, now: number): number {
    const recent = this.#recent(now);
    const last = recent[recent.length - this.#limit(digest, recent)];
    return last ? last.at + MINUTE : now;
  }

  /** @param wall the same instant as `now`, in milliseconds since the epoch */
  kept(now: number, wall: number): KeptPace['sent'] {
    return this.#recent(now).map(({ at, digest }) => ({ at: wall - (now - at), digest }));
  }

  /** If the clock was set back meanwhile, no message may lie in the future. */
  restore(kept: KeptPace['sent'], now: number, wall: number): void {
    this.#sent = kept.map(({ at, digest }) => ({ at: now - Math.max(0, wall - at), digest }));
  }

  /** A digest begins a storm, and whatever follows within a minute belongs to it, even the last few alerts. */
  #limit(digest: boolean, recent: readonly { digest: boolean }[]): number {
    const { few, many } = this.#limits;
    return digest || recent.some((one) => one.digest) ? many : few;
  }

  #recent(now: number): { at: number; digest: boolean }[] {
    this.#sent = this.#sent.filter(({ at }) => at > now - MINUTE);
    return this.#sent;
  }
}
