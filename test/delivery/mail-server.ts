import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  recipients: string[];
  raw: string;
  parsed: ParsedMail;
  secure: boolean;
  user: string | null;
  at: number;
}

export interface MailServer extends AsyncDisposable {
  url: string;
  port: number;
  received: ReceivedMail[];
  /** How many connections were ever made. */
  connections: number;
  close(): Promise<void>;
}

/** A real SMTP server on loopback. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mail: MailServer = {
    url: '',
    port: 0,
    received: [],
    connections: 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
    [Symbol.asyncDispose]: () => mail.close(),
  };
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    logger: false,
    closeTimeout: 100,
    onConnect(_session, callback) {
      mail.connections += 1;
      callback();
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks);
        const { envelope, secure, user } = session;
        mail.received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          recipients: envelope.rcptTo.map(({ address }) => address),
          raw: raw.toString('latin1'),
          parsed: await simpleParser(raw),
          secure,
          user: typeof user === 'string' ? user : null,
          at: performance.now(),
        });
        callback();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mail.port = (server.server.address() as AddressInfo).port;
  mail.url = `${options.secure ? 'smtps' : 'smtp'}://127.0.0.1:${mail.port}`;
  return mail;
}
