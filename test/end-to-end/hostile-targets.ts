/** Servers that answer with the credentials they got: in a header, an address, an error, a line of SMTP. */
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { startMailServer } from '../delivery/mail-server.ts';

export interface HostileTargets {
  /** An address for each kind of answer, without credentials. */
  urls: Record<'good' | 'quoting' | 'redirecting' | 'echoing' | 'untrusted' | 'closed', string>;
  /** The credentials that arrived, as complete headers. */
  authorizations: Set<string>;
  /** A mail server that accepts one user, and echoes to all others what they sent. */
  smtpUrl: string;
  /** The users who logged in. */
  users: Set<string>;
  stop(): Promise<void>;
}

export async function startHostileTargets(mayLogIn: (password: string) => boolean): Promise<HostileTargets> {
  const authorizations = new Set<string>();
  const users = new Set<string>();
  const http = createHttpServer((request, response) => {
    const { authorization = '' } = request.headers;
    authorizations.add(authorization);
    request.resume().on('end', () => answer(request, response, authorization));
  });
  const echo = createServer((socket) =>
    socket.on('data', (bytes) => socket.end(bytes)).on('error', () => {}),
  );
  await using closed = createServer();
  const [httpUrl, echoUrl, closedUrl] = [await listen(http), await listen(echo), await listen(closed)];
  closed.close();
  const untrusted = await startMailServer({ secure: true });
  const mail = await startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      if (!mayLogIn(String(password))) return callback(refusal(String(username), String(password)));
      users.add(String(username));
      callback(null, { user: String(username) });
    },
  });
  return {
    urls: {
      good: `${httpUrl}/good`,
      quoting: `${httpUrl}/quoting`,
      redirecting: `${httpUrl}/redirecting`,
      echoing: echoUrl,
      untrusted: `https://127.0.0.1:${untrusted.port}`,
      closed: closedUrl,
    },
    authorizations,
    smtpUrl: mail.url,
    users,
    async stop() {
      http.closeAllConnections();
      await Promise.all([close(http), close(echo), untrusted.close(), mail.close()]);
    },
  };
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse, authorization: string): void {
  if (url === '/good') return void response.writeHead(204).end();
  const encoded = authorization.replace(/^Basic /, '');
  const credentials = Buffer.from(encoded, 'base64').toString();
  const [user = '', password = ''] = credentials.split(/:(.*)/s);
  const quoted = {
    'www-authenticate': `Basic realm="${encoded}"`,
    'x-error': JSON.stringify(credentials).replaceAll('é', 'e'),
  };
  if (url.startsWith('/quoting')) {
    response.writeHead(500, `not ${encoded}`, quoted).end(`not "${authorization}", ${credentials}`);
    return;
  }
  const secret = encodeURIComponent(password || user);
  const location = `http://${encodeURIComponent(user)}:${secret}@other.test/${secret}/${encoded}?token=${secret}#${secret}`;
  response.writeHead(302, { ...quoted, location }).end();
}

/** What an administrator of a mail server might find helpful. */
function refusal(user: string, password: string): Error {
  const encoded = Buffer.from(password).toString('base64');
  const plain = Buffer.from(`\0${user}\0${password}`).toString('base64');
  const text = `not ${password} = ${encodeURIComponent(password)} = ${JSON.stringify({ password })} = ${encoded}, AUTH PLAIN ${plain}`;
  return Object.assign(new Error(text), { responseCode: 535 });
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
