/** Sends one message to one recipient over SMTP. */

import { createTransport } from 'nodemailer';
import { isEmailAddress } from '../../core/validation.ts';
import { MINUTE } from '../../text/durations.ts';
import type { EmailMessage } from '../messages/email-message.ts';
import { errorText, failureInWords } from '../messages/failure.ts';
import type { Outcome } from '../outbox/outcome.ts';
import { type SmtpSettings, secretsOf, senderOf, smtpOptions } from './smtp-options.ts';

/** For a whole send, from waiting for a connection to the server's last answer, in milliseconds. */
export const SEND_TIMEOUT = MINUTE;

const CONNECTION_TIMEOUT = 10_000;
const GREETING_TIMEOUT = 20_000;
const SILENCE_TIMEOUT = 30_000;

export interface MailerOptions extends SmtpSettings {
  /** How many messages are sent at the same time, at most. */
  connections: number;
  /** For a whole send, in milliseconds. */
  timeout?: number;
}

export interface Mailer {
  /** The part after the @ of the sender's address: message ids are made with it. */
  domain: string;
  /**
   * Never throws: whatever goes wrong is an outcome.
   *
   * @param stop aborts the attempt
   */
  send(message: EmailMessage, recipient: string, stop?: AbortSignal): Promise<Outcome>;
  /** Lets sends in flight finish, and then closes all connections. */
  retire(): void;
  /** Closes all connections now. */
  close(): void;
}

/** @throws Error that names the setting which cannot be used */
export function createMailer(options: MailerOptions): Mailer {
  const { connections, timeout = SEND_TIMEOUT } = options;
  const sender = senderOf(options);
  const smtp = smtpOptions(options, connections);
  const transport = createTransport({
    ...smtp,
    // A connection that the server closed while idle is noticed at the next send, which then uses another.
    maxRequeues: 2,
    connectionTimeout: CONNECTION_TIMEOUT,
    greetingTimeout: GREETING_TIMEOUT,
    socketTimeout: SILENCE_TIMEOUT,
    dnsTimeout: CONNECTION_TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const server = { host: `${smtp.host}:${smtp.port}`, secrets: secretsOf(smtp) };
  return {
    domain: sender.address.slice(sender.address.lastIndexOf('@') + 1),
    async send(message, recipient, stop) {
      if (!isEmailAddress(recipient)) return { kind: 'dead', error: 'the recipient is not an email address' };
      const expiry = AbortSignal.timeout(timeout);
      try {
        await transport.sendMail({
          ...composed(message, sender, recipient),
          signal: stop ? AbortSignal.any([expiry, stop]) : expiry,
        });
        return { kind: 'delivered' };
      } catch (error) {
        if (expiry.aborted) return { kind: 'retry', error: `no complete answer within ${timeout / 1000} s` };
        if (stop?.aborted) return { kind: 'retry', error: 'given up because the service is stopping' };
        return failed(error as SmtpError, server);
      }
    },
    retire: () => transport.close(),
    close: () => transport.close({ force: true }),
  };
}

/** The envelope is explicit, so nothing in a header can add a recipient. */
function composed(message: EmailMessage, sender: { name: string; address: string }, recipient: string) {
  const { subject, text, html, messageId, references, date } = message;
  const thread = references.length > 0 ? { references, inReplyTo: references[0] } : {};
  return {
    from: sender,
    to: { name: '', address: recipient },
    envelope: { from: sender.address, to: [recipient] },
    // A mail reader would decode a name that looks like a MIME encoded word into whatever its author chose.
    subject: subject.replaceAll('=?', '= ?'),
    text,
    html,
    date,
    messageId,
    ...thread,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

/** What nodemailer adds to the errors of a send. */
export interface SmtpError extends Error {
  code?: string;
  /** The command that the server refused. */
  command?: string;
  responseCode?: number;
  /** The server's answer. */
  response?: string;
  /** The code of the system error behind it. */
  originalCode?: string;
}

/** Refusals with one of these codes are about our login, not about the recipient or the message. */
const ABOUT_LOGIN = [503, 530, 534, 535, 538];

/**
 * A permanent refusal of this recipient or this message (5xx to RCPT or DATA) is final. Everything else, including
 * a 5xx to the connection, the login or the sender, is about the server or our own configuration, which someone
 * may fix: it is retried.
 */
function failed(error: SmtpError, server: { host: string; secrets: readonly string[] }): Outcome {
  const { code, command, responseCode = 0 } = error;
  const refused = responseCode >= 500 && responseCode < 600 && !ABOUT_LOGIN.includes(responseCode);
  const ours = code !== 'EENVELOPE' && code !== 'EMESSAGE';
  const permanent = refused && !ours && (command === 'RCPT TO' || command === 'DATA');
  return { kind: permanent ? 'dead' : 'retry', error: smtpFailureInWords(error, server) };
}

/** Why a mail server was not reached, or what it refused; `secrets` are not shown. */
export function smtpFailureInWords(
  error: SmtpError,
  { host, secrets }: { host: string; secrets: readonly string[] },
): string {
  const { code, command, response, originalCode } = error;
  if (code === 'ETLS' && command === 'STARTTLS' && response) {
    return errorText(`${host} does not offer the TLS that smtp.url requires: ${response}`, secrets);
  }
  if (response) {
    const what = code === 'EAUTH' ? 'login' : (command ?? 'message');
    return errorText(`${host} refused ${REFUSED[what] ?? `the ${what}`}: ${response}`, secrets);
  }
  if (code === 'ETLS') return errorText(`TLS with ${host} failed: ${error.message}`, secrets);
  if (code === 'ETIMEDOUT') return `${host} does not answer`;
  if (code === 'ECONNECTION') return errorText(`${host} closed the connection`, secrets);
  if (code === 'EDNS') return errorText(`${host} has no address: ${error.message}`, secrets);
  const system =
    originalCode === undefined
      ? error
      : Object.assign(new Error(error.message), error, { code: originalCode });
  return failureInWords(system, host, secrets);
}

const REFUSED: Record<string, string> = {
  'RCPT TO': 'the recipient',
  'MAIL FROM': 'the sender',
  DATA: 'the message',
  CONN: 'the connection',
  EHLO: 'the connection',
};
