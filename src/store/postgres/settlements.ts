/**
 * Settlements, written in sets. A digest has one for each alert in it, all at the same moment: in a transaction each,
 * they would take longer than a stop waits, and a delivery that was sent but not recorded is sent again.
 */
import type { Settlement } from '../../core/delivery.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import { settleDelivery } from '../operations/claims.ts';
import type { Transaction } from '../transaction.ts';
import type { PostgresRunner } from './postgres-runner.ts';
import { endOfTurn } from './turns.ts';

/** The most that are written in one transaction. */
const AT_ONCE = 100;

interface Waiting {
  id: number;
  fence: number;
  settlement: Settlement;
  settled: (counted: boolean) => void;
  failed: (error: unknown) => void;
}

export interface SettlementOptions {
  runner: Pick<PostgresRunner, 'writeInBackground' | 'track'>;
  /** How far the clock for claims is ahead of the caller's clock, in milliseconds. */
  behind: (tx: Transaction) => Promise<number>;
}

export class Settlements {
  readonly #options: SettlementOptions;
  #waiting: Waiting[] = [];

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** As the operation `settleDelivery`, combined with everything else settled in this turn of the event loop. */
  settle(id: number, fence: number, settlement: Settlement): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.push({ id, fence, settlement, settled: resolve, failed: reject });
    if (this.#waiting.length === 1) void this.#options.runner.track(this.#writeAll());
    return promise;
  }

  async #writeAll(): Promise<void> {
    await endOfTurn();
    // Always in the order of the rows, so that no two sets wait for each other.
    const all = this.#waiting.sort((one, other) => one.id - other.id);
    this.#waiting = [];
    const sets: Waiting[][] = [];
    while (all.length > 0) sets.push(all.splice(0, AT_ONCE));
    await Promise.all(sets.map((set) => this.#write(set)));
  }

  async #write(set: readonly Waiting[]): Promise<void> {
    try {
      const counted = await this.#options.runner.writeInBackground((tx) => this.#settleAll(tx, set));
      for (const [index, { settled }] of set.entries()) settled(counted[index] ?? false);
    } catch (error) {
      const [only] = set;
      if (set.length === 1 || error instanceof StoreUnavailable) for (const { failed } of set) failed(error);
      // If the database refuses the values of one of them, the others must not fail with it.
      else if (only) await Promise.all(set.map((one) => this.#write([one])));
    }
  }

  async #settleAll(tx: Transaction, set: readonly Waiting[]): Promise<boolean[]> {
    const counted: boolean[] = [];
    const isRetry = set.some(({ settlement }) => settlement.kind === 'retry');
    const behind = isRetry ? await this.#options.behind(tx) : 0;
    const settle = async (index: number, { id, fence, settlement }: Waiting) => {
      const given = settlement.kind === 'retry' ? { ...settlement, at: settlement.at + behind } : settlement;
      counted[index] = await settleDelivery(tx, id, fence, given);
    };
    const alone = [...set.entries()].filter(([, { settlement }]) => concernsOthers(settlement));
    const together = [...set.entries()].filter(([, { settlement }]) => !concernsOthers(settlement));
    await Promise.all(together.map(([index, one]) => settle(index, one)));
    for (const [index, one] of alone) await settle(index, one);
    return counted;
  }
}

/** Whether it changes the channel, and first reads of it what another settlement may have changed. */
function concernsOthers(settlement: Settlement): boolean {
  if (settlement.kind === 'delivered') return settlement.told?.settings !== undefined;
  return settlement.kind === 'dead' && settlement.refusedAt !== undefined;
}
