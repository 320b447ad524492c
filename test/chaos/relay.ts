/** A fixed address in front of a server that comes and goes, so that clients see a restart. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Relay {
  readonly #port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #listeningOn = 0;

  constructor(port: number) {
    this.#port = port;
    this.#server = createServer((client) => {
      const upstream = connect(this.#port, '127.0.0.1');
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => this.#sockets.delete(socket));
        socket.pipe(other);
      }
    });
  }

  get port(): number {
    return this.#listeningOn;
  }

  /** Accepts connections, always on the same port. */
  up(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#listeningOn, '127.0.0.1', () => {
        this.#listeningOn = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Drops every connection and refuses new ones. */
  down(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
