/** Claims what is due in the outbox, sends it, and settles it: the one loop that owns retrying, per channel. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Channel } from '../core/routing.ts';
import type { Store } from '../store/store.ts';
import { MINUTE } from '../text/durations.ts';
import { createWebhookSender, type WebhookSender } from './channels/webhook.ts';
import { connectionsFor, EMAIL_LIMITS, EmailChannel, type EmailLimits } from './email-channel.ts';
import { Loop } from './outbox/pass-loop.ts';
import { type Attempt, Settler } from './outbox/settler.ts';
import { createMailer, type Mailer } from './smtp/mailer.ts';
import type { SmtpSettings } from './smtp/smtp-options.ts';
import { WEBHOOK_LIMITS, WebhookChannel, type WebhookLimits } from './webhook-channel.ts';

export interface DeliverySettings {
  /** Null where email is off. */
  smtp: SmtpSettings | null;
  /** Whether webhooks may reach loopback and private addresses. */
  webhooks: { allowPrivate: boolean };
}

export interface DelivererOptions extends DeliverySettings {
  store: Pick<Store, 'claimDeliveries' | 'settleDelivery' | 'nextDeliveryAt' | 'onChange'>;
  clock: () => number;
  /** A clock that is never set: waits and leases within this process are counted on it. */
  monotonic?: () => number;
  /** Numbers in [0, 1): the jitter of retries. */
  random: () => number;
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
  /** Told of every settlement, for whoever counts. */
  observe?: (attempt: Attempt) => void;
  limits?: { webhook?: Partial<WebhookLimits>; email?: Partial<EmailLimits> };
  /** How long a stop waits for what is in flight, in milliseconds. */
  grace?: number;
}

export interface DelivererHealth {
  /** Sends and settlements that have not ended. */
  inFlight: Record<Channel, number>;
  /** How long ago the outbox was looked at with success, in milliseconds. */
  silence: Record<Channel, number>;
}

export interface Deliverer {
  start(): void;
  /** Looks at the outbox now. */
  wake(): void;
  /** Claims no more, waits a few seconds for what is in flight, gives back the rest, and ends all connections. */
  stop(): Promise<void>;
  /** @throws Error that names the setting which cannot be used; then everything stays as it was */
  reconfigure(settings: DeliverySettings): void;
  health(): DelivererHealth;
  /** What is wrong, in words, or null. */
  problem(): string | null;
}

const GRACE = 4_000;

/** How long a stop then waits until what was given up is written down, in milliseconds. */
const SETTLE_GRACE = 1_500;

/** No look at the outbox for so long means that it makes no progress, in milliseconds. */
const STALLED_AFTER = MINUTE;

/** @throws Error that names the setting which cannot be used */
export function createDeliverer(options: DelivererOptions): Deliverer {
  return new OutboxDeliverer(options);
}

class OutboxDeliverer implements Deliverer {
  readonly #options: DelivererOptions;
  readonly #limits: { webhook: WebhookLimits; email: EmailLimits };
  readonly #settler: Settler;
  readonly #giveUp = new AbortController();
  readonly #channels: { webhook: WebhookChannel; email: EmailChannel };
  readonly #loops: Record<Channel, Loop>;
  #settings: DeliverySettings;
  #sender: WebhookSender;
  #mailer: Mailer | null;
  #stopped: Promise<void> | null = null;

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { limits, smtp, webhooks, store, clock, random, logger } = options;
    const { monotonic = () => performance.now(), observe = () => undefined } = options;
    this.#limits = {
      webhook: { ...WEBHOOK_LIMITS, ...limits?.webhook },
      email: { ...EMAIL_LIMITS, ...limits?.email },
    };
    this.#settings = { smtp, webhooks };
    this.#mailer = this.#createMailer(smtp);
    this.#sender = this.#createSender(webhooks);
    this.#settler = new Settler({ store, clock, monotonic, random, logger, observe });
    const shared = { store, settler: this.#settler, clock, monotonic, giveUp: this.#giveUp.signal };
    const webhook = new WebhookChannel({
      ...shared,
      sender: () => this.#sender,
      limits: this.#limits.webhook,
      wake: () => this.#loops.webhook.wake(),
    });
    const email = new EmailChannel({
      ...shared,
      mailer: () => this.#mailer,
      limits: this.#limits.email,
      wake: () => this.#loops.email.wake(),
    });
    this.#channels = { webhook, email };
    this.#loops = {
      webhook: this.#loop('webhook', () => webhook.pass(), monotonic),
      email: this.#loop('email', () => email.pass(), monotonic),
    };
  }

  start(): void {
    this.#options.store.onChange(({ kind }) => {
      if (kind === 'deliveries') this.wake();
    });
    this.#loops.webhook.start();
    this.#loops.email.start();
  }

  wake(): void {
    this.#loops.webhook.wake();
    this.#loops.email.wake();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  reconfigure({ smtp, webhooks }: DeliverySettings): void {
    const before = this.#settings;
    if (!same(smtp, before.smtp)) {
      const mailer = this.#createMailer(smtp);
      this.#mailer?.retire();
      this.#mailer = mailer;
    }
    if (!same(webhooks, before.webhooks)) {
      const sender = this.#createSender(webhooks);
      this.#sender.retire();
      this.#sender = sender;
    }
    this.#settings = { smtp, webhooks };
    this.wake();
  }

  health(): DelivererHealth {
    const { webhook, email } = this.#channels;
    return {
      inFlight: { webhook: webhook.inFlight, email: email.inFlight },
      silence: { webhook: this.#loops.webhook.silence, email: this.#loops.email.silence },
    };
  }

  problem(): string | null {
    const { silence } = this.health();
    const longest = Math.max(silence.webhook, silence.email);
    return longest > STALLED_AFTER
      ? `the outbox was not looked at for ${Math.round(longest / 1_000)} s`
      : null;
  }

  async #stop(): Promise<void> {
    const { grace = GRACE } = this.#options;
    const ended = Promise.all([this.#end('webhook'), this.#end('email')]);
    await within(grace, ended);
    this.#settler.hurry();
    this.#giveUp.abort();
    await within(SETTLE_GRACE, ended);
    this.#mailer?.close();
    await this.#sender.close();
  }

  async #end(channel: Channel): Promise<void> {
    this.#channels[channel].halt();
    await this.#loops[channel].stop();
    await this.#channels[channel].drain();
  }

  #createMailer(smtp: SmtpSettings | null): Mailer | null {
    const { email } = this.#limits;
    return smtp && createMailer({ ...smtp, connections: connectionsFor(email), timeout: email.timeout });
  }

  #createSender({ allowPrivate }: DeliverySettings['webhooks']): WebhookSender {
    const { version = '0' } = this.#options;
    return createWebhookSender({ allowPrivate, version, timeout: this.#limits.webhook.timeout });
  }

  #loop(channel: Channel, pass: () => Promise<number>, monotonic: () => number): Loop {
    const { logger } = this.#options;
    return new Loop({
      pass,
      monotonic,
      onFailing: (err) => logger.error({ err, channel }, 'the outbox cannot be read now; it is tried again'),
      onRecovered: () => logger.info({ channel }, 'the outbox can be read again'),
    });
  }
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Resolves when `work` has ended or the time is over. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([work, late]);
  timer.abort();
}
