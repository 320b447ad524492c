/** An address of a daemon that can be shut, as if the daemon had ended, and opened again: starting one takes longer. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../free-port.ts';

export class Door implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  private constructor(to: string, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#port = port;
    this.#to = Number(new URL(to).port);
  }

  /** One that is open. */
  static async before(url: string): Promise<Door> {
    const door = new Door(url, await freePort());
    await door.open();
    return door;
  }

  async open(): Promise<void> {
    const server = createServer((outside) => {
      const inside = connect(this.#to, '127.0.0.1');
      for (const socket of [outside, inside]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          outside.destroy();
          inside.destroy();
        });
      }
      outside.pipe(inside).pipe(outside);
    });
    await once(server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#server = server;
  }

  /** Whether a connection is open. */
  get isUsed(): boolean {
    return this.#sockets.size > 0;
  }

  /** Refuses new connections and ends the open ones. */
  async shut(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    const closed = once(server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shut();
  }
}
