/** Warns if the host's clock differs from the database's, because the node then follows the database's. */
import { durationInWords, HOUR } from '../../../text/durations.ts';

/** Clocks are expected to agree within a second (`extensions: Several nodes`); milliseconds. */
const MOST_APART = 1_000;

/** In milliseconds. */
const TOLD_EVERY = HOUR;

/**
 * @param warn called at once, and then hourly while the clocks differ
 * @param monotonic in milliseconds
 * @returns a function to call with how far this host's clock is ahead, in milliseconds
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
