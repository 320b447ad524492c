/** Tries the mail server before an alert has to: connects, logs in, and sends a test mail on request. */
import { createTransport } from 'nodemailer';
import { createMailer, type SmtpError, smtpFailureInWords } from './mailer.ts';
import { type SmtpSettings, secretsOf, senderOf, smtpOptions } from './smtp-options.ts';

/** For each step of the conversation, in milliseconds. */
const PATIENCE = 10_000;

/**
 * For the whole login, and the same again for a test mail, even if the server answers byte by byte, in milliseconds.
 */
const WITHIN = 25_000;

export interface MailCheck {
  /** Host and port of the mail server. */
  server: string;
  /** In words; null if all went well. */
  problem: string | null;
}

/**
 * @param recipient of the test mail; null for none
 * @param within for the login, and the same again for the mail, in milliseconds
 * @throws Error that names the setting which cannot be used
 */
export async function checkMail(
  settings: SmtpSettings,
  recipient: string | null,
  now: number,
  within: number = WITHIN,
): Promise<MailCheck> {
  const { host, port } = smtpOptions(settings, 1);
  const server = `${host}:${port}`;
  const refused = await logIn(settings, server, within);
  if (refused !== null || recipient === null) return { server, problem: refused };
  return { server, problem: await sendTest(settings, recipient, { now, within }) };
}

async function logIn(settings: SmtpSettings, server: string, within: number): Promise<string | null> {
  const { pool: _, ...options } = smtpOptions(settings, 1);
  const transport = createTransport({
    ...options,
    connectionTimeout: PATIENCE,
    greetingTimeout: PATIENCE,
    socketTimeout: PATIENCE,
    dnsTimeout: PATIENCE,
  });
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`${server} does not finish answering`), within);
  try {
    return await Promise.race([transport.verify().then(() => null), late.promise]);
  } catch (error) {
    return smtpFailureInWords(error as SmtpError, { host: server, secrets: secretsOf(options) });
  } finally {
    clearTimeout(timer);
  }
}

async function sendTest(
  settings: SmtpSettings,
  recipient: string,
  { now, within }: { now: number; within: number },
): Promise<string | null> {
  const mailer = createMailer({ ...settings, connections: 1, timeout: within });
  const { address } = senderOf(settings);
  try {
    const outcome = await mailer.send(
      {
        subject: '[Test] Snitch can send email',
        text: 'This is the test mail that `snitch doctor --send` was asked for. Alerts will reach you the same way.\n',
        html: '<p>This is the test mail that <code>snitch doctor --send</code> was asked for. Alerts will reach you the same way.</p>',
        messageId: `<snitch.test.${now}@${address.slice(address.lastIndexOf('@') + 1)}>`,
        references: [],
        date: new Date(now),
      },
      recipient,
    );
    return outcome.kind === 'delivered' ? null : outcome.error;
  } finally {
    mailer.close();
  }
}
