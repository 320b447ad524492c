/** Emails: one alert a message, or a digest of many, to one recipient each. */
import { EMAIL_OFF } from '../../core/explanation/death.ts';
import { alertMessage, digestMessage } from '../messages/email-message.ts';
import type { LinkOf } from '../messages/service-message.ts';
import type { Channel, Pace } from '../outbox/channel.ts';
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
 * @param smtp null if email is off
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
  const off: Outcome = { kind: 'dead', error: EMAIL_OFF };
  return {
    kind: 'email',
    pace: { ...pace, perTarget: 1 },
    off: mailer ? null : EMAIL_OFF,
    grouping: {
      wait: groupWait,
      async composeDigest(digest, { target, stop }) {
        if (!mailer) return async () => off;
        const message = await digestMessage(digest, target, mailer.domain);
        return () => mailer.send(message, target, stop);
      },
    },
    async sendAlert({ alert, case: shown, output = null }, { target, stop }) {
      if (!mailer) return off;
      const message = alertMessage(alert, shown, target, mailer.domain, { output, link: linkOf(alert) });
      return mailer.send(message, target, stop);
    },
    retire: () => mailer?.retire(),
    close: () => mailer?.close(),
  };
}
