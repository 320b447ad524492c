/**
 * Reports what takes long before the daemon listens: in the log, and to the service manager, which would otherwise kill
 * it.
 */
import type { Logger } from 'pino';
import type { Opening } from '../store/sqlite/connection.ts';
import type { ServiceManager } from '../system/service-manager.ts';
import { MINUTE, SECOND } from '../text/durations.ts';

/** A smaller database is open before anybody could read that it takes a while; bytes. */
const WORTH_TELLING = 32 << 20;

/** The speed of a slow, busy or remote disk, in bytes per millisecond. */
const SLOWEST = 1_000;

/** Between two log lines about the same thing, in milliseconds. */
const TOLD_EVERY = 10 * SECOND;

/** @param monotonic in milliseconds */
export function openingTeller(
  { manager, logger }: { manager: Pick<ServiceManager, 'status' | 'extend'>; logger: Pick<Logger, 'info'> },
  monotonic: () => number,
): (opening: Opening) => void {
  let told: { doing: string; at: number } | null = null;
  return (opening) => {
    if ('bytes' in opening && opening.bytes < WORTH_TELLING) return;
    const { sentence, within } = described(opening);
    manager.extend(within);
    manager.status(sentence);
    const now = monotonic();
    if (told?.doing === opening.doing && now - told.at < TOLD_EVERY) return;
    told = { doing: opening.doing, at: now };
    logger.info(sentence);
  };
}

function described(opening: Opening): { sentence: string; within: number } {
  switch (opening.doing) {
    case 'checking':
      return {
        sentence: `Checking the database (${size(opening.bytes)}) before it is used`,
        within: patience(opening.bytes),
      };
    case 'copying':
      return {
        sentence: `Copying the database (${size(opening.bytes)}) before its upgrade`,
        within: patience(opening.bytes),
      };
    case 'upgrading': {
      const { table, done, total } = opening;
      return {
        sentence: `Upgrading the database: ${count(done)} of ${count(total)} in ${table}`,
        within: 10 * MINUTE,
      };
    }
  }
}

function patience(bytes: number): number {
  return 10 * MINUTE + bytes / SLOWEST;
}

function size(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
