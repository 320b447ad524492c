/**
 * Check-ins whose address contains bytes that should have been percent-encoded: `curl "…/<token>?m=größe"`. The
 * parser refuses them, and a job that ran would be reported missing. So the bytes are encoded here, and the request
 * is read again.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ConnectionError } from 'fastify';
import type { PathReader } from './check-in/target.ts';

const REQUEST_LINE = /^((?:GET|HEAD|POST|PUT) )([ -~\u0080-\u00ff]+)( HTTP\/1\.[01]\r\n)/;
const HEAD_END = '\r\n\r\n';

/** What the parser says of such a byte: of a letter, and of what follows a space, which ends the target for it. */
const FAULTS: ReadonlySet<string | undefined> = new Set([
  'HPE_INVALID_URL',
  'HPE_INVALID_CONSTANT',
  'HPE_INVALID_VERSION',
]);

/** `rawPacket` is what arrived last, and `bytesParsed` where in it the fault is. */
type Fault = ConnectionError & { rawPacket?: Buffer; bytesParsed?: number };

/** The connections whose last request is read again. */
const readings = new WeakSet<Socket>();

/**
 * Reads the last request of a connection again, with its target encoded. All earlier ones must be answered.
 *
 * @returns false if it is not a check-in, or its bytes are not at fault, so it stays refused
 */
export function readAgain(error: ConnectionError, socket: Socket, to: Server, readPath: PathReader): boolean {
  // The parser that gave up goes on to count its time, but what reads the request again has limits of its own.
  if (readings.has(socket)) return true;
  const { code, rawPacket, bytesParsed = 0 } = error as Fault;
  if (!FAULTS.has(code) || !rawPacket || !socket.writable) return false;
  const repaired = encodeTarget(rawPacket, bytesParsed, readPath);
  if (repaired === null) return false;
  for (const event of ['data', 'end', 'drain', 'timeout']) socket.removeAllListeners(event);
  readings.add(socket);
  to.emit('connection', new ReadAgain(socket, repaired));
  return true;
}

/**
 * Null if there is nothing to encode. The request becomes the last of its connection, so what follows a
 * request without a body is dropped.
 *
 * What arrived may be the rest of anything, even if it looks like a request. It begins one if the parser found its fault
 * within the target and not before: in the middle of another request it would have been stopped by the method, or at
 * the latest by the first character of the target.
 */
function encodeTarget(packet: Buffer, faultAt: number, readPath: PathReader): Buffer | null {
  // Each byte is one character here, so nothing but the target changes.
  const text = packet.toString('latin1');
  const [line = '', method = '', target = '', version = ''] = REQUEST_LINE.exec(text) ?? [];
  if (faultAt <= method.length || faultAt > method.length + target.length) return null;
  const encoded = target.replace(/[^!-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  if (encoded === target || readPath(encoded) === null) return null;
  const end = /^(GET|HEAD)/.test(method) ? text.indexOf(HEAD_END) : -1;
  const rest = end < 0 ? text.slice(line.length) : text.slice(line.length, end + HEAD_END.length);
  return Buffer.from(`${method}${encoded}${version}Connection: close\r\n${rest}`, 'latin1');
}

/** The same connection, read again from its first byte. */
class ReadAgain extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, first: Buffer) {
    super();
    this.#socket = socket;
    this.push(first);
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('close', () => this.destroy());
    socket.resume();
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  /** Closes both directions, as the server does with its other connections: a client may never close its own. */
  override _final(done: () => void): void {
    this.#socket.destroySoon();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
