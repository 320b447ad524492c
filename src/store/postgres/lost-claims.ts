/**
 * Claims whose commit was not answered. If it did happen, deliveries are leased that nobody knows of, and nobody would
 * send them before the lease ends. The next claim of their channel releases them first.
 */
import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { Channel } from '../../core/routing.ts';
import type { ClaimRequest } from '../deliveries.ts';
import type { Operation, Transaction } from '../transaction.ts';

type Claim = Pick<ClaimedDelivery, 'id' | 'fence'>;

/** As if they had not been claimed; due before all others, as released deliveries always are. */
const GIVE_BACK = `UPDATE deliveries AS d SET leased = 0, next_attempt_at = 0, attempts = greatest(d.attempts - 1, 0)
  WHERE d.state = 'pending' AND d.leased = 1 AND d.node = ? AND d.id = ? AND d.fence = ?`;

export class LostClaims {
  readonly #node: string;
  readonly #lost = new Map<Channel, Claim[]>();
  /** Claims of one channel run one after the other, so that nothing lost is claimed again meanwhile. */
  readonly #last = new Map<Channel, Promise<unknown>>();

  constructor(node: string) {
    this.#node = node;
  }

  /** @param run runs an operation in a transaction, and repeats it if nothing was committed */
  claim(
    run: <T>(operation: Operation<T>) => Promise<T>,
    { channel }: Pick<ClaimRequest, 'channel'>,
    claim: Operation<ClaimedDelivery[]>,
  ): Promise<ClaimedDelivery[]> {
    const before = this.#last.get(channel) ?? Promise.resolve();
    const claiming = before.then(() => this.#claim(run, channel, claim));
    this.#last.set(
      channel,
      claiming.catch(() => undefined),
    );
    return claiming;
  }

  async #claim(
    run: <T>(operation: Operation<T>) => Promise<T>,
    channel: Channel,
    claim: Operation<ClaimedDelivery[]>,
  ): Promise<ClaimedDelivery[]> {
    const before = this.#lost.get(channel) ?? [];
    let taken: ClaimedDelivery[] = [];
    try {
      const claimed = await run(async (tx) => {
        taken = [];
        this.#giveBack(tx, before);
        taken = await claim(tx);
        return taken;
      });
      this.#lost.delete(channel);
      return claimed;
    } catch (error) {
      // If nothing was committed, the fence and the node show that there is nothing to release.
      const lost = [...before, ...taken].map(({ id, fence }) => ({ id, fence }));
      if (lost.length > 0) this.#lost.set(channel, lost);
      throw error;
    }
  }

  #giveBack(tx: Transaction, lost: readonly Claim[]): void {
    for (const { id, fence } of lost) tx.put(GIVE_BACK, this.#node, id, fence);
  }
}
