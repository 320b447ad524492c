/** Records what became of deliveries, and logs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { nextAttemptAt } from '../../core/backoff.ts';
import { isChannelKind } from '../../core/channel.ts';
import type { Settlement } from '../../core/delivery.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import { lastOfAll } from '../../core/explanation/death.ts';
import type { Channel } from '../../core/routing.ts';
import type { Store } from '../../store/store.ts';
import { BoundedLog } from './bounded-log.ts';
import type { Outcome } from './outcome.ts';
import type { OwnClaim } from './own-claim.ts';

/** What became of one delivery, for the metrics. */
export interface Attempt {
  channel: Channel;
  result: Settlement['kind'];
}

export interface SettlerOptions {
  store: Pick<Store, 'settleDelivery'>;
  clock: () => number;
  monotonic: () => number;
  random: () => number;
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  observe: (attempt: Attempt) => void;
}

/** How long to wait before a settlement that the store refused is tried again, in milliseconds. */
const TRY_AGAIN_AFTER = 500;

/** The most deliveries that are settled at once, so a large digest does not keep others from the store. */
const AT_ONCE = 50;

/** The most delivery ids that are named in one log line. */
const NAMED = 20;

const TOO_LATE = 'a delivery was settled too late: its lease had ended';

/** If the store gave no answer, it is not known whether the settlement was written. */
const TOO_LATE_OR_TWICE =
  'a delivery was settled already, by an attempt that the store did not answer, or its lease had ended';

export class Settler {
  readonly #options: SettlerOptions;
  readonly #log: BoundedLog;
  /** Settlements that are not written yet. */
  readonly #unwritten = new Set<OwnClaim>();
  #patient = true;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#log = new BoundedLog({ logger: options.logger, counted: 'alarms delivered' });
  }

  /** From now on a settlement that the store refuses is not retried: the process is ending. */
  hurry(): void {
    this.#patient = false;
    this.#log.flush();
  }

  /** Deliveries that were sent as one message share one outcome, and are retried together. */
  async settle(group: readonly OwnClaim[], outcome: Outcome): Promise<void> {
    const { clock, random } = this.#options;
    const now = clock();
    const jitter = random();
    const fates = group.map((own) => ({ own, settlement: settlementOf(own, outcome, now, jitter) }));
    this.#tell(fates, outcome);
    await this.#write(fates);
  }

  /** Releases deliveries that were not tried. */
  async release(group: readonly OwnClaim[]): Promise<void> {
    if (group.length === 0) return;
    await this.#write(group.map((own) => ({ own, settlement: { kind: 'released' } })));
  }

  async #write(fates: readonly Fate[]): Promise<void> {
    for (let from = 0; from < fates.length; from += AT_ONCE) {
      await Promise.all(fates.slice(from, from + AT_ONCE).map((fate) => this.#writeOne(fate)));
    }
  }

  /**
   * The targets of a channel with deliveries that were tried, whose lease has ended, and whose outcome the store has
   * not accepted yet. A new claim for one of these targets could get the same delivery again.
   */
  overdue(channel: Channel): string[] {
    const now = this.#options.monotonic();
    const late = [...this.#unwritten].filter((own) => own.channel === channel && own.leaseEnds <= now);
    return late.map(({ target }) => target);
  }

  async #writeOne(fate: Fate): Promise<void> {
    this.#unwritten.add(fate.own);
    try {
      await this.#writePatiently(fate);
    } finally {
      this.#unwritten.delete(fate.own);
    }
  }

  async #writePatiently({ own, settlement }: Fate): Promise<void> {
    const { store, logger, observe } = this.#options;
    for (let isFirst = true; ; isFirst = false) {
      try {
        const counted = await store.settleDelivery(own.id, own.fence, settlement);
        if (counted) observe({ channel: own.channel, result: settlement.kind });
        else logger.warn(shown([own]), isFirst ? TOO_LATE : TOO_LATE_OR_TWICE);
        return;
      } catch (error) {
        if (!this.#mayTryAgain(own, settlement, error)) {
          logger.error({ ...shown([own]), err: error }, 'a delivery was not settled and will be sent again');
          return;
        }
      }
      await sleep(TRY_AGAIN_AFTER);
    }
  }

  /**
   * While the store is away nobody else can claim either, so what was sent is recorded when the store is back, however
   * long after the end of the lease: thanks to its fence it counts only if nobody has claimed the delivery since. What
   * the store refuses for another reason, and what was not sent, is left to the next claim at the end of the lease.
   */
  #mayTryAgain(own: OwnClaim, { kind }: Settlement, error: unknown): boolean {
    if (!this.#patient) return false;
    if (error instanceof StoreUnavailable && kind !== 'released') return true;
    return this.#options.monotonic() + TRY_AGAIN_AFTER < own.leaseEnds;
  }

  /** Alarms that were sent as one message share one log line. */
  #tellDelivered(group: readonly OwnClaim[]): void {
    const alarms = group.filter(({ alarm }) => alarm !== null);
    const [only] = alarms;
    if (!only) this.#options.logger.debug(shown(group), 'delivered');
    else if (group.length === 1) this.#log.info({ ...shown(group), ...only.alarm }, 'delivered');
    else this.#log.info({ ...shown(group), alarms: alarms.length }, 'delivered', alarms.length);
  }

  #tell(fates: readonly Fate[], outcome: Outcome): void {
    const { logger } = this.#options;
    if (outcome.kind === 'delivered') {
      this.#tellDelivered(fates.map(({ own }) => own));
      return;
    }
    const retried = fates.filter(({ settlement }) => settlement.kind === 'retry');
    const dead = fates.filter(({ settlement }) => settlement.kind === 'dead');
    if (retried.length > 0) {
      const [{ settlement }] = retried as [Fate];
      const again = settlement.kind === 'retry' ? new Date(settlement.at).toISOString() : null;
      const what = {
        ...shown(retried.map(({ own }) => own)),
        error: outcome.error,
        next_attempt_at: again,
      };
      logger.warn(what, 'a delivery failed and will be tried again');
    }
    if (dead.length > 0) {
      const what = { ...shown(dead.map(({ own }) => own)), error: outcome.error };
      logger.error(what, 'a delivery failed for good');
    }
  }
}

interface Fate {
  own: OwnClaim;
  settlement: Settlement;
}

function settlementOf(own: OwnClaim, outcome: Outcome, now: number, jitter: number): Settlement {
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'delivered', at: now, ...toldOf(own, outcome) };
    case 'dead':
      return refused(own, outcome.error, now);
    case 'retry': {
      if (isLasting(own, outcome)) return refused(own, outcome.error, now);
      const at = nextAttemptAt(own.attempt, now, jitter, outcome.retryAfter ?? null);
      if (at !== null) return { kind: 'retry', at, error: outcome.error };
      return { kind: 'dead', error: lastOfAll(outcome.error, own.attempt) };
    }
  }
}

/** After an outage, the proxy is often there before the service that is behind it. */
function isLasting(
  { attempt, lastError }: OwnClaim,
  { attempts, error }: Extract<Outcome, { kind: 'retry' }>,
) {
  return attempts !== undefined && attempt >= attempts && error === lastError;
}

function refused({ channel }: OwnClaim, error: string, now: number): Settlement {
  return isChannelKind(channel) ? { kind: 'dead', error, refusedAt: now } : { kind: 'dead', error };
}

/** For a channel, what the service said about the message. */
function toldOf(
  { channel }: OwnClaim,
  outcome: Extract<Outcome, { kind: 'delivered' }>,
): Pick<Delivered, 'told'> {
  if (!isChannelKind(channel)) return {};
  const { reference = null, settings } = outcome;
  return { told: settings ? { reference, settings } : { reference } };
}

type Delivered = Extract<Settlement, { kind: 'delivered' }>;

/** What a log line says about deliveries: ids, never an address with credentials. */
function shown(group: readonly OwnClaim[]): Record<string, unknown> {
  const [first] = group;
  if (!first) return {};
  const { channel, target, attempt } = first;
  if (group.length === 1) return { channel, target, delivery: first.id, alert: first.alertId, attempt };
  const ids = group.slice(0, NAMED).map(({ id }) => id);
  const several = group.some((own) => own.target !== target);
  return { channel, ...(several ? {} : { target }), deliveries: ids, count: group.length };
}
