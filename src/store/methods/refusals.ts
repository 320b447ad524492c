/**
 * The methods that depend on what the runner refused. What a full disk refused may have been check-ins: until a blind
 * window covers that time, nobody may be accused, and nothing may be written that claims the daemon heard everything.
 */
import { StoreUnavailable } from '../../core/errors.ts';
import type { BlindnessStore } from '../blindness.ts';
import { openBlindWindow } from '../operations/blind-windows.ts';
import { recordLiveness } from '../operations/settings.ts';
import { applyDue } from '../operations/sweeping/due.ts';
import type { SweepStore } from '../sweep.ts';
import type { Runner } from './method.ts';

export type Guarded = Pick<SweepStore, 'applyDue'> &
  Pick<BlindnessStore, 'openBlindWindow' | 'recordLiveness' | 'refused'>;

/** The refusals are checked inside the transaction, because the write before it may have been refused. */
export function guarded(runner: Runner): Guarded {
  return {
    applyDue: async (now, after, limit) => {
      const result = await runner.writeInBackground(async (tx) =>
        runner.refused ? null : applyDue(tx, now, after, limit),
      );
      // Thrown outside the transaction: inside, it would refuse the whole batch.
      if (!result) throw new StoreUnavailable('check-ins were refused, and that has no blind window yet');
      return result;
    },
    openBlindWindow: async (window) => {
      const told = await runner.writeInBackground(async (tx) => {
        const { refused } = runner;
        const start = Math.min(window.start, refused?.start ?? window.start);
        const end = Math.max(window.end, refused?.end ?? window.end);
        await openBlindWindow(tx, { start, end });
        return refused;
      });
      runner.forgetRefused(told);
    },
    recordLiveness: (at, stop) =>
      runner.writeInBackground(async (tx) => {
        if (!runner.refused) await recordLiveness(tx, at, stop ?? null);
      }),
    refused: () => runner.refused,
  };
}
