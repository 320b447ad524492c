/**
 * Repeats lasting alarms to services. A failed repeat just waits for the next one: an alarm survives several failures.
 */
import type { Logger } from 'pino';
import type { Repeat } from '../../core/delivery.ts';
import type { Store } from '../../store/store.ts';
import { attempt, type Outcome } from './outcome.ts';
import { PassLoop } from './pass-loop.ts';

/** How many are taken in one call of the store: few enough not to keep other calls waiting. */
const AT_ONCE = 64;

/** Between two checks for what is due, in milliseconds. */
const LOOK_EVERY = 1_000;

export interface RepeaterOptions {
  store: Pick<Store, 'takeRepeats' | 'nextRepeatAt' | 'lasts'>;
  clock: () => number;
  monotonic?: () => number;
  logger: Pick<Logger, 'debug' | 'error' | 'info'>;
  /** As in `DispatchOptions`: by now another node may repeat the alarm, or have reported its end. */
  heldSince?: () => number;
  /** Null if the alarm was over. */
  send: (repeat: Repeat, lasts: () => Promise<boolean>, stop: AbortSignal) => Promise<Outcome | null>;
}

export class Repeater {
  readonly #options: Required<RepeaterOptions>;
  readonly #passes: PassLoop;
  readonly #stop = new AbortController();
  /** The channels that are being told: a slow one holds up no other. */
  readonly #telling = new Map<string, Promise<void>>();

  constructor(options: RepeaterOptions) {
    const { logger, monotonic = () => performance.now() } = options;
    const { heldSince = () => Number.NEGATIVE_INFINITY } = options;
    this.#options = { ...options, monotonic, heldSince };
    this.#passes = new PassLoop({
      pass: () => this.#pass(),
      monotonic,
      onFailing: (err) => logger.error({ err }, 'lasting alarms cannot be read now; it is tried again'),
      onRecovered: () => logger.info('lasting alarms can be read again'),
    });
  }

  start(): void {
    this.#passes.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#passes.stop();
    await Promise.all(this.#telling.values());
  }

  async #pass(): Promise<number> {
    const { store, clock, monotonic } = this.#options;
    const takenAt = monotonic();
    if ((await store.nextRepeatAt()) === null) return LOOK_EVERY;
    const due = await store.takeRepeats(clock(), AT_ONCE, [...this.#telling.keys()]);
    const isMore = due.length === AT_ONCE;
    for (const [channelId, repeats] of Map.groupBy(due, (repeat) => repeat.channelId)) {
      const told = this.#tell(repeats, takenAt).finally(() => {
        this.#telling.delete(channelId);
        if (isMore) this.#passes.wake();
      });
      this.#telling.set(channelId, told);
    }
    return isMore ? 0 : LOOK_EVERY;
  }

  /** A service that does not answer is not tried with each of its alarms. */
  async #tell(repeats: readonly Repeat[], takenAt: number): Promise<void> {
    const { store, send, logger, heldSince } = this.#options;
    for (const repeat of repeats) {
      if (this.#stop.signal.aborted) return;
      let over = false;
      const outcome = await attempt(async () => {
        // The node's signs of life are checked last: if the process was suspended meanwhile, the store's answer is old.
        const lasts = async () => (await store.lasts(repeat)) && takenAt >= heldSince();
        const sent = await send(repeat, lasts, this.#stop.signal);
        over = sent === null;
        return sent ?? { kind: 'delivered' };
      });
      if (over || outcome.kind === 'delivered') continue;
      const { channelId: target, alert } = repeat;
      logger.debug({ target, alert: alert.id, error: outcome.error }, 'an alarm was not told again');
      if (outcome.kind === 'retry') return;
    }
  }
}
