/** A channel whose alarms expire unless they are repeated to the service. */
import type { ClaimedDelivery, Repeat } from '../../core/delivery.ts';
import type { Channel, Sending } from '../outbox/channel.ts';
import type { Outcome } from '../outbox/outcome.ts';

export interface RepeatedChannel extends Channel {
  /**
   * Sends an alarm once more if it still lasts; null if it does not.
   *
   * @param lasts called once nothing else is being sent to the target: no repeat may come after the
   *   recovery
   */
  repeat(repeat: Repeat, sending: Sending, lasts: () => Promise<boolean>): Promise<Outcome | null>;
}

/** Sends to one target go one at a time, repeats included. */
export function repeated(channel: Channel): RepeatedChannel {
  const last = new Map<string, Promise<unknown>>();
  const inTurn = async <T>(target: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(target) ?? Promise.resolve()).then(work, work);
    last.set(target, mine);
    try {
      return await mine;
    } finally {
      if (last.get(target) === mine) last.delete(target);
    }
  };
  return {
    ...channel,
    sendAlert: (claim, sending) => inTurn(sending.target, () => channel.sendAlert(claim, sending)),
    repeat: ({ channelId, alert, recipient, case: shown }, sending, lasts) =>
      inTurn(channelId, async () => {
        if (!(await lasts())) return null;
        const claim: ClaimedDelivery = {
          ...{ id: 0, fence: 0, attempt: 1, lastError: null, channel: channel.kind, target: channelId },
          ...{ alert, recipient, case: shown, webhook: null },
        };
        return channel.sendAlert(claim, sending);
      }),
  };
}
