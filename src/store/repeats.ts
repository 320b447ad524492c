/** The part of the store for alarms that a service must be told of again and again; instants are in milliseconds. */
import type { Repeat } from '../core/delivery.ts';

export interface RepeatStore {
  /** What is to be told again at `now`; each of them is due again only after `REPEAT_EVERY`. */
  takeRepeats(now: number, limit: number): Promise<Repeat[]>;
  /** Whether the alarm still lasts: asked right before it is told again. */
  lasts(repeat: Pick<Repeat, 'channelId' | 'token'>): Promise<boolean>;
  /** When the next one is due, or null. */
  nextRepeatAt(): Promise<number | null>;
}
