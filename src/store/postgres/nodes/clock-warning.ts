/** Tells of a host whose clock is not that of the database, so that the node on it has to go by that one. */
import { durationInWords } from '../../../text/durations.ts';

/** Clocks are expected to agree within a second (`extensions: Several nodes`); milliseconds. */
const MOST_APART = 1_000;

/** In milliseconds. */
const TOLD_EVERY = 3_600_000;

/**
 * @param warn told at once, and once an hour for as long as it is so
 * @param monotonic in milliseconds
 * @returns what is to be called with how far the clock of this host is ahead, in milliseconds
 */
export function clockWarning(
  warn: (words: string) => void,
  monotonic: () => number,
): (aheadMs: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (aheadMs) => {
    const apart = Math.abs(aheadMs);
    if (apart <= MOST_APART || monotonic() - toldAt < TOLD_EVERY) return;
    toldAt = monotonic();
    const where = aheadMs > 0 ? 'ahead of' : 'behind';
    warn(
      `the clock of this host is ${durationInWords(apart)} ${where} that of the database: check-ins and deadlines go by that of the database, and only this log goes by that of this host; let chrony or systemd-timesyncd set the clocks of all hosts`,
    );
  };
}
