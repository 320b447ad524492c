import type { Logger } from 'pino';
import type { BlindWindow } from '../core/blind-window.ts';

/** Logs that a blind window was opened, whoever noticed it. */
export function tellOfWindow(logger: Pick<Logger, 'warn'>, { start, end }: BlindWindow): void {
  logger.warn(
    { from: new Date(start).toISOString(), to: new Date(end).toISOString() },
    'no check-in could be received in this window; the deadlines of jobs that it may have kept from checking in are postponed',
  );
}
