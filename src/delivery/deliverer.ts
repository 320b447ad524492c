/** The channels that this service has, made from its settings, and the outbox that goes out through them. */
import { EMAIL_LIMITS, type EmailLimits, emailChannel } from './channels/email.ts';
import { SERVICE_LIMITS, type ServiceLimits, serviceChannel } from './channels/service-channel.ts';
import { SERVICES } from './channels/services.ts';
import { WEBHOOK_LIMITS, type WebhookLimits, webhookChannel } from './channels/webhook.ts';
import type { Channel } from './outbox/channel.ts';
import { Dispatch, type DispatchHealth, type DispatchOptions } from './outbox/dispatch.ts';
import type { SmtpSettings } from './smtp/smtp-options.ts';

export interface DeliverySettings {
  /** Null where email is off. */
  smtp: SmtpSettings | null;
  /** Whether webhooks and services may be at loopback and private addresses. */
  webhooks: { allowPrivate: boolean };
}

export interface DelivererOptions extends DeliverySettings, DispatchOptions {
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
  limits?: {
    webhook?: Partial<WebhookLimits>;
    email?: Partial<EmailLimits>;
    service?: Partial<ServiceLimits>;
  };
}

export interface Deliverer {
  start(): void;
  /** Looks at the outbox now. */
  wake(): void;
  /** Claims no more, waits a few seconds for what is in flight, gives back the rest, and ends all connections. */
  stop(): Promise<void>;
  /** @throws Error that names the setting which cannot be used; then everything stays as it was */
  reconfigure(settings: DeliverySettings): void;
  health(): DispatchHealth;
  /** What is wrong, in words, or null. */
  problem(): string | null;
}

/** @throws Error that names the setting which cannot be used */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { limits, version = '0' } = options;
  const make: { [Setting in keyof DeliverySettings]: (value: DeliverySettings[Setting]) => Channel[] } = {
    smtp: (smtp) => [emailChannel(smtp, { ...EMAIL_LIMITS, ...limits?.email })],
    webhooks: ({ allowPrivate }) => [
      webhookChannel({ allowPrivate, version }, { ...WEBHOOK_LIMITS, ...limits?.webhook }),
      ...SERVICES.map((service) =>
        serviceChannel(service, { allowPrivate, version }, { ...SERVICE_LIMITS, ...limits?.service }),
      ),
    ],
  };
  let { smtp, webhooks }: DeliverySettings = options;
  const dispatch = new Dispatch([...make.webhooks(webhooks), ...make.smtp(smtp)], options);
  return {
    start: () => dispatch.start(),
    wake: () => dispatch.wake(),
    stop: () => dispatch.stop(),
    health: () => dispatch.health(),
    problem: () => dispatch.problem(),
    reconfigure(settings) {
      const changed = [
        ...(same(settings.smtp, smtp) ? [] : make.smtp(settings.smtp)),
        ...(same(settings.webhooks, webhooks) ? [] : make.webhooks(settings.webhooks)),
      ];
      for (const channel of changed) dispatch.replace(channel);
      ({ smtp, webhooks } = settings);
      dispatch.wake();
    },
  };
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
