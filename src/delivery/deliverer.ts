/** The channels of this service, made from its settings, and the outbox that is sent through them. */
import { COMMAND_LIMITS, type CommandLimits, type Commands, commandChannel } from './channels/command.ts';
import { EMAIL_LIMITS, type EmailLimits, emailChannel } from './channels/email.ts';
import { type RepeatedChannel, repeated } from './channels/repeated.ts';
import { SERVICE_LIMITS, type ServiceLimits, serviceChannel } from './channels/service-channel.ts';
import { SERVICES } from './channels/services.ts';
import { WEBHOOK_LIMITS, type WebhookLimits, webhookChannel } from './channels/webhook.ts';
import type { LinkOf } from './messages/service-message.ts';
import type { Channel } from './outbox/channel.ts';
import { Dispatch, type DispatchHealth, type DispatchOptions } from './outbox/dispatch.ts';
import { Repeater, type RepeaterOptions } from './outbox/repeater.ts';
import type { SmtpSettings } from './smtp/smtp-options.ts';

export interface DeliverySettings {
  /** Null if email is off. */
  smtp: SmtpSettings | null;
  /** Whether webhooks and services may have loopback and private addresses. */
  webhooks: { allowPrivate: boolean };
  /** What channels of the kind `command` run; none when absent. */
  commands?: Commands;
}

export interface DelivererOptions extends DeliverySettings, DispatchOptions {
  store: DispatchOptions['store'] & RepeaterOptions['store'];
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
  /** The link that an alert gives its reader; none when absent. */
  linkOf?: LinkOf;
  limits?: {
    webhook?: Partial<WebhookLimits>;
    email?: Partial<EmailLimits>;
    service?: Partial<ServiceLimits>;
    command?: Partial<CommandLimits>;
  };
}

export interface Deliverer {
  start(): void;
  /** Looks at the outbox now. */
  wake(): void;
  /** Claims no more, waits a few seconds for sends in flight, releases the rest, and closes all connections. */
  stop(): Promise<void>;
  /** @throws Error that names the setting which cannot be used; nothing is changed then */
  reconfigure(settings: DeliverySettings): void;
  health(): DispatchHealth;
  /** What is wrong, in words, or null. */
  problem(): string | null;
}

/** @throws Error that names the setting which cannot be used */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const make = makers(options);
  let { smtp, webhooks, commands = {} }: DeliverySettings = options;
  let services = make.webhooks(webhooks);
  const dispatch = new Dispatch([...services, ...make.smtp(smtp), ...make.commands(commands)], options);
  const repeater = new Repeater({
    ...options,
    async send(repeat, lasts, stop) {
      const sending = { target: repeat.channelId, now: options.clock(), stop };
      return (await services.find(isRepeated)?.repeat(repeat, sending, lasts)) ?? null;
    },
  });
  return {
    start() {
      dispatch.start();
      repeater.start();
    },
    wake: () => dispatch.wake(),
    stop: async () => void (await Promise.all([repeater.stop(), dispatch.stop()])),
    health: () => dispatch.health(),
    problem: () => dispatch.problem(),
    reconfigure(settings) {
      const mail = same(settings.smtp, smtp) ? [] : make.smtp(settings.smtp);
      const others = same(settings.webhooks, webhooks) ? [] : make.webhooks(settings.webhooks);
      const run = same(settings.commands ?? {}, commands) ? [] : make.commands(settings.commands ?? {});
      for (const channel of [...mail, ...others, ...run]) dispatch.replace(channel);
      if (others.length > 0) services = others;
      ({ smtp, webhooks, commands = {} } = settings);
      dispatch.wake();
    },
  };
}

function isRepeated(channel: Channel): channel is RepeatedChannel {
  return 'repeat' in channel;
}

type Makers = {
  [Setting in keyof DeliverySettings]-?: (
    value: NonNullable<DeliverySettings[Setting]> | NullOf<Setting>,
  ) => Channel[];
};

/** Only email can be off. */
type NullOf<Setting> = Setting extends 'smtp' ? null : never;

/** Makes the channels that each setting is for. */
function makers({ limits, version = '0', linkOf = () => null }: DelivererOptions): Makers {
  return {
    commands: (commands) => [commandChannel(commands, { ...COMMAND_LIMITS, ...limits?.command }, linkOf)],
    smtp: (smtp) => [emailChannel(smtp, { ...EMAIL_LIMITS, ...limits?.email }, linkOf)],
    webhooks: ({ allowPrivate }) => [
      webhookChannel({ allowPrivate, version }, { ...WEBHOOK_LIMITS, ...limits?.webhook }),
      ...SERVICES.map((service) => {
        const channel = serviceChannel(
          service,
          { allowPrivate, version, linkOf },
          { ...SERVICE_LIMITS, ...limits?.service },
        );
        return service.repeats ? repeated(channel) : channel;
      }),
    ],
  };
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
