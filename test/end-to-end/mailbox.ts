/** A real SMTP server on loopback that keeps what arrives. */
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { Arrivals } from './arrivals.ts';

export interface ReceivedMail {
  at: number;
  /** The address that it came from. */
  from: string;
  recipients: string[];
  subject: string;
  message: ParsedMail;
}

export interface Mailbox {
  url: string;
  mails: readonly ReceivedMail[];
  /** Resolves with all that arrived once there are `count`. */
  waitFor(count: number, withinMs: number): Promise<readonly ReceivedMail[]>;
  stop(): Promise<void>;
}

/** @param password what clients must give; if it is left out, nobody needs one */
export async function startMailbox(password?: string): Promise<Mailbox> {
  const arrivals = new Arrivals<ReceivedMail>('mails');
  const server = new SMTPServer({
    authOptional: password === undefined,
    allowInsecureAuth: true,
    onAuth: (auth, _session, callback) =>
      auth.password === password
        ? callback(null, { user: auth.username })
        : callback(new Error('wrong password')),
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, callback) {
      simpleParser(stream).then((message) => {
        arrivals.add({
          at: Date.now(),
          from: session.remoteAddress,
          recipients: session.envelope.rcptTo.map(({ address }) => address),
          subject: message.subject ?? '',
          message,
        });
        callback();
      }, callback);
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails: arrivals.items,
    waitFor: (count, withinMs) => arrivals.waitFor(count, withinMs),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
