/** Emails: one alert a message, or a digest of many, to one recipient each. */
import { EMAIL_OFF } from '../../core/explanation/death.ts';
import { alertMessage, digestMessage, type EmailMessage } from '../messages/email-message.ts';
import type { LinkOf } from '../messages/service-message.ts';
import type { Channel, Pace, Sending } from '../outbox/channel.ts';
import type { Outcome } from '../outbox/outcome.ts';
import { createMailer, SEND_TIMEOUT } from '../smtp/mailer.ts';
import type { SmtpSettings } from '../smtp/smtp-options.ts';

export interface EmailLimits extends Omit<Pace, 'perTarget'> {
  /** How long further alerts for a recipient wait after a send, in milliseconds. */
  groupWait: number;
}

export const EMAIL_LIMITS: EmailLimits = {
  timeout: SEND_TIMEOUT,
  groupWait: 5_000,
  fast: 5,
  slow: 5,
  slowAfter: 5_000,
};

/**
 * @param smtp null where email is off
 * @throws Error that names the setting which cannot be used
 */
export function emailChannel(
  smtp: SmtpSettings | null,
  limits: EmailLimits,
  linkOf: LinkOf = () => null,
): Channel {
  const { groupWait, ...pace } = limits;
  const connections = limits.fast + limits.slow;
  const mailer = smtp && createMailer({ ...smtp, connections, timeout: limits.timeout });
  const send = async (compose: (domain: string) => EmailMessage, { target, stop }: Sending) => {
    const off: Outcome = { kind: 'dead', error: EMAIL_OFF };
    return mailer ? mailer.send(compose(mailer.domain), target, stop) : off;
  };
  return {
    kind: 'email',
    pace: { ...pace, perTarget: 1 },
    off: mailer ? null : EMAIL_OFF,
    grouping: {
      wait: groupWait,
      sendDigest: (digest, to) => send((domain) => digestMessage(digest, to.target, domain), to),
    },
    sendAlert: ({ alert, case: shown, output = null }, to) =>
      send((domain) => alertMessage(alert, shown, to.target, domain, { output, link: linkOf(alert) }), to),
    retire: () => mailer?.retire(),
    close: () => mailer?.close(),
  };
}
