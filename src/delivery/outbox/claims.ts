/** Claims deliveries of one channel from the store, a slice at a time, so every target has its turn. */
import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { Store } from '../../store/store.ts';
import type { Channel } from './channel.ts';
import { AHEAD } from './target.ts';

/** How many deliveries are claimed in one call of the store: few enough not to keep other calls waiting. */
export const SLICE = 32;

/** How much is claimed ahead of sending. */
export interface Intake {
  /** The most deliveries of one target. */
  perTarget: number;
  /** The most deliveries that wait in memory, in all. */
  waiting: number;
  /** Time that a lease allows for claiming and settling, besides the sends themselves, in milliseconds. */
  settling: number;
  /** After this time, what was claimed is sent even if more is due; in milliseconds. */
  gathering: number;
}

const EACH_ALONE: Intake = {
  perTarget: AHEAD,
  waiting: 1_024,
  settling: 15_000,
  // Each delivery is sent as soon as it is claimed.
  gathering: Number.POSITIVE_INFINITY,
};

/** If there is a gap between two sends, nothing is claimed ahead. */
const ONE_BY_ONE: Intake = { ...EACH_ALONE, perTarget: 1 };

/**
 * A digest takes everything that waits, unless the store is so slow that claiming takes long: nobody has been told
 * anything yet, and once the lease ends all of it would have to be released and claimed again, for ever.
 */
const GROUPED: Intake = { perTarget: 50_000, waiting: 50_000, settling: 60_000, gathering: 20_000 };

export function intakeOf({ grouping, pace }: Pick<Channel, 'grouping' | 'pace'>): Intake {
  if (grouping) return GROUPED;
  return pace.gap ? ONE_BY_ONE : EACH_ALONE;
}

/** A lease is long enough for the send itself, and for one before it, even if both take as long as they may. */
const SENDS_IN_A_LEASE = 2;

/** How long a claim is ours, in milliseconds. */
export function leaseOf({ pace }: Pick<Channel, 'pace'>, { settling }: Intake): number {
  return SENDS_IN_A_LEASE * pace.timeout + settling;
}

export interface ClaimsOptions {
  store: Pick<Store, 'claimDeliveries'>;
  clock: () => number;
  monotonic: () => number;
}

export interface Claimed {
  claims: readonly ClaimedDelivery[];
  /** On the monotonic clock. */
  leaseEnds: number;
}

export class Claims {
  readonly #options: ClaimsOptions;
  /** The target that the last claim ended with. */
  #after = '';

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** @param busy the targets for which nothing should be claimed */
  async take(
    channel: Pick<Channel, 'kind' | 'pace'>,
    intake: Intake,
    limit: number,
    busy: readonly string[],
  ): Promise<Claimed> {
    const { store, clock, monotonic } = this.#options;
    const lease = leaseOf(channel, intake);
    // Both are read before the claim: the time it takes is part of the lease.
    const leaseEnds = monotonic() + lease;
    const now = clock();
    const claims = await store.claimDeliveries({
      now,
      channel: channel.kind,
      leaseUntil: now + lease,
      perTarget: intake.perTarget,
      limit,
      busy: [...busy],
      after: this.#after,
    });
    this.#after = claims.at(-1)?.target ?? '';
    return { claims, leaseEnds };
  }
}
