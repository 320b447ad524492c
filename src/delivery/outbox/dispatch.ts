/** Sends the outbox through its channels, each with a loop of its own, and stops them all. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { MINUTE } from '../../text/durations.ts';
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
  /** A monotonic clock, on which waits and leases within this process are counted. */
  monotonic?: () => number;
  /**
   * If several nodes share the outbox: claims from before this instant of the monotonic clock may have been taken over
   * by another node.
   */
  heldSince?: () => number;
  /** Numbers in [0, 1): the jitter of retries. */
  random: () => number;
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Called at every settlement, for the metrics. */
  observe?: (attempt: Attempt) => void;
  /** How long a stop waits for sends in flight, in milliseconds. */
  grace?: number;
}

/** Each by the kind of channel. */
export interface DispatchHealth {
  /** Sends and settlements that have not ended. */
  inFlight: Record<string, number>;
  /** How long ago the outbox was last read successfully, in milliseconds. */
  sincePass: Record<string, number>;
}

const GRACE = 4_000;

/** How long a stop then waits for the settlements of what was given up, in milliseconds. */
const SETTLE_GRACE = 1_500;

/** If the outbox is not read for this long, it makes no progress; milliseconds. */
const STALLED_AFTER = MINUTE;

export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #settler: Settler;
  readonly #giveUp = new AbortController();
  readonly #loops: readonly ChannelLoop[];
  /** The kinds of channels that cannot read the outbox. All read the same one, so one log line stands for all. */
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

  /** Claims no more, waits a few seconds for sends in flight, releases the rest, and closes all connections. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /**
   * From now on deliveries of its kind are sent through `channel`, which has the same pace and grouping as the old one.
   */
  replace(channel: Channel): void {
    this.#loops.find((loop) => loop.channel.kind === channel.kind)?.replace(channel);
  }

  health(): DispatchHealth {
    const each = (read: (loop: ChannelLoop) => number) =>
      Object.fromEntries(this.#loops.map((loop) => [loop.channel.kind, read(loop)]));
    return { inFlight: each(({ inFlight }) => inFlight), sincePass: each(({ sincePass }) => sincePass) };
  }

  /** What is wrong, in words, or null. */
  problem(): string | null {
    const longest = Math.max(...this.#loops.map(({ sincePass }) => sincePass));
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
