/** Sends the outbox through its channels, and knows how to stop: each channel has a loop of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import type { Channel } from './channel.ts';
import { ChannelLoop } from './channel-loop.ts';
import { type Attempt, Settler } from './settler.ts';
import { Spell } from './spell.ts';

export interface DispatchOptions {
  store: Pick<
    Store,
    'claimDeliveries' | 'settleDelivery' | 'nextDeliveryAt' | 'onChange' | 'keepPace' | 'listPaces'
  >;
  clock: () => number;
  /** A clock that is never set: waits and leases within this process are counted on it. */
  monotonic?: () => number;
  /**
   * Where several nodes share the outbox: what was claimed before this instant of the monotonic clock may have been taken
   * over by another one.
   */
  heldSince?: () => number;
  /** Numbers in [0, 1): the jitter of retries. */
  random: () => number;
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Told of every settlement, for whoever counts. */
  observe?: (attempt: Attempt) => void;
  /** How long a stop waits for what is in flight, in milliseconds. */
  grace?: number;
}

/** By the kind of channel. */
export interface DispatchHealth {
  /** Sends and settlements that have not ended. */
  inFlight: Record<string, number>;
  /** How long ago the outbox was looked at with success, in milliseconds. */
  silence: Record<string, number>;
}

const GRACE = 4_000;

/** How long a stop then waits until what was given up is written down, in milliseconds. */
const SETTLE_GRACE = 1_500;

/** No look at the outbox for so long means that it makes no progress, in milliseconds. */
const STALLED_AFTER = 60_000;

export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #settler: Settler;
  readonly #giveUp = new AbortController();
  readonly #loops: readonly ChannelLoop[];
  /** The kinds of those that cannot read the outbox. All read the same one, so that one line tells of all. */
  readonly #failing = new Set<string>();
  #stopped: Promise<void> | null = null;

  /** @param channels one of each kind */
  constructor(channels: readonly Channel[], options: DispatchOptions) {
    const { monotonic = () => performance.now(), observe = () => undefined } = options;
    const { store, clock, random, logger, heldSince = () => Number.NEGATIVE_INFINITY } = options;
    this.#options = options;
    this.#settler = new Settler({ store, clock, monotonic, random, logger, observe });
    const giveUp = this.#giveUp.signal;
    const told = { onFailing: this.#onFailing, onRecovered: this.#onRecovered };
    const spell = new Spell(monotonic);
    const shared = { store, clock, monotonic, settler: this.#settler, heldSince, giveUp, spell, ...told };
    this.#loops = channels.map((channel) => new ChannelLoop(channel, shared));
  }

  start(): void {
    this.#options.store.onChange((change) => {
      if (change.kind === 'reset') this.wake();
      if (change.kind !== 'deliveries') return;
      const { channels } = change;
      for (const loop of this.#loops) if (channels?.includes(loop.channel.kind) ?? true) loop.wake();
    });
    for (const loop of this.#loops) loop.start();
  }

  /** Looks at the outbox now. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Claims no more, waits a few seconds for what is in flight, gives back the rest, and ends all connections. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** From now on deliveries of its kind go out through `channel`, of the same pace and grouping as the one before. */
  replace(channel: Channel): void {
    this.#loops.find((loop) => loop.channel.kind === channel.kind)?.replace(channel);
  }

  health(): DispatchHealth {
    const each = (read: (loop: ChannelLoop) => number) =>
      Object.fromEntries(this.#loops.map((loop) => [loop.channel.kind, read(loop)]));
    return { inFlight: each(({ inFlight }) => inFlight), silence: each(({ silence }) => silence) };
  }

  /** What is wrong, in words, or null. */
  problem(): string | null {
    const longest = Math.max(...this.#loops.map(({ silence }) => silence));
    return longest > STALLED_AFTER
      ? `the outbox was not looked at for ${Math.round(longest / 1_000)} s`
      : null;
  }

  readonly #onFailing = (channel: string, err: unknown): void => {
    const isFirst = this.#failing.size === 0;
    this.#failing.add(channel);
    if (isFirst)
      this.#options.logger.error({ err, channel }, 'the outbox cannot be read now; it is tried again');
  };

  readonly #onRecovered = (channel: string): void => {
    this.#failing.delete(channel);
    if (this.#failing.size === 0) this.#options.logger.info('the outbox can be read again');
  };

  async #stop(): Promise<void> {
    const { grace = GRACE } = this.#options;
    const ended = Promise.all(this.#loops.map((loop) => loop.end()));
    await within(grace, ended);
    this.#settler.hurry();
    this.#giveUp.abort();
    await within(SETTLE_GRACE, ended);
    await Promise.all(this.#loops.map(({ channel }) => channel.close()));
  }
}

/** Resolves when `work` has ended or the time is over. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([work, late]);
  timer.abort();
}
