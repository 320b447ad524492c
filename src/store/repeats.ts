/** The part of the store for alarms that a service must be told of repeatedly; instants are in milliseconds. */
import type { Repeat } from '../core/delivery.ts';

export interface RepeatStore {
  /**
   * What must be repeated at `now`; each of them is due again only after `REPEAT_EVERY`.
   *
   * @param busy the channels for which nothing should be taken
   */
  takeRepeats(now: number, limit: number, busy?: readonly string[]): Promise<Repeat[]>;
  /** Whether the alarm still lasts; to be asked right before it is repeated. */
  lasts(repeat: Pick<Repeat, 'channelId' | 'token'>): Promise<boolean>;
  /** When the next repeat is due, or null. */
  nextRepeatAt(): Promise<number | null>;
}
