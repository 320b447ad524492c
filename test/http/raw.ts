/** Bytes on a socket and what came back, for what no well-behaved client would send. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.ts';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Writes `parts` one after another and reads until the server closes the connection, or has been silent for
 * `quiet` milliseconds after it sent something.
 *
 * @param pause between the parts, in milliseconds: long enough to be answered, and to arrive apart
 */
export function exchange(
  port: number,
  parts: (string | Buffer)[],
  quiet = 150,
  pause: number | null = null,
): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    let idle: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(idle);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      clearTimeout(idle);
      idle = setTimeout(finish, quiet);
    });
    // What was received before a reset still counts.
    socket.on('error', finish);
    socket.on('close', finish);
    socket.on('connect', () => void writeAll(socket, parts, pause));
  });
}

async function writeAll(
  socket: ReturnType<typeof connect>,
  parts: (string | Buffer)[],
  pause: number | null,
): Promise<void> {
  socket.setNoDelay();
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(part);
    await (pause === null ? new Promise(setImmediate) : sleep(pause));
  }
}

/** Each request is sent once the one before is answered. @returns all that came back until the server closed */
export async function exchangeInTurn(port: number, requests: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('utf8');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  try {
    for (const [index, request] of requests.entries()) {
      socket.write(request);
      const isAnswered = () => socket.closed || [...text.matchAll(/^HTTP\/1.1 /gm)].length > index;
      await until(isAnswered, `request ${index + 1} is answered`);
    }
    await until(() => socket.closed, 'the connection is closed');
    return text;
  } finally {
    socket.destroy();
  }
}

/** The first answer in what came back. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = (end < 0 ? text : text.slice(0, end)).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? 0);
  return { status, headers, body: end < 0 ? '' : text.slice(end + 4) };
}

/** One request as it is, answered and closed. */
export async function exchangeOne(port: number, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  return parseAnswer(await exchange(port, parts));
}
