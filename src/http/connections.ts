/** Shares the connections among clients, so nobody can lock the others out. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** No more connections than this are held, however many descriptors there are. This many still need little memory. */
const MOST_CONNECTIONS = 10_000;

/** Descriptors kept for the database, webhooks, mail and the log. */
const RESERVED = 512;

/** How many descriptors a Linux process may open by default; assumed if the limit cannot be read. */
const USUAL_DESCRIPTORS = 1_024;

/** How many connections this process can hold and still open everything else that it needs. */
export function connectionLimit(limits = readLimits()): number {
  const soft = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? USUAL_DESCRIPTORS);
  return Math.min(MOST_CONNECTIONS, Math.max(soft - RESERVED, Math.floor(soft / 2)));
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/**
 * Ends connections when there are more than `limit`. A limit alone would keep everybody out as soon as one client had
 * used it up, and a limit for each source would be hit by a reverse proxy, or by many jobs behind one address that
 * start in the same minute. So the first to go are those that never sent a request, from the source that holds the
 * most of them; then those of the source that holds the most connections, beginning with those that are not waiting
 * for an answer. Among equals the oldest goes, and never the newcomer.
 *
 * @param open is kept up to date with the connections that count
 * @returns a function that tells whether a connection is waiting for an answer
 */
export function shareConnections(
  server: Server,
  limit: number,
  open: Set<Socket>,
): (socket: Socket) => boolean {
  const connections = new Connections(open, Math.ceil(limit / NEWCOMERS));
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    if (open.size > limit) connections.endOne(socket);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    connections.asked(request.socket, response);
  });
  return (socket) => connections.waits(socket);
}

/**
 * While at most one connection in this many is silent, silent ones are as safe as others: they may have just arrived.
 */
const NEWCOMERS = 8;

class Connections {
  readonly #open: Set<Socket>;
  readonly #newcomers: number;
  readonly #sourceOf = new WeakMap<Socket, string>();
  readonly #held = new Map<string, Set<Socket>>();
  /** Those that have not sent a request yet, in the order in which they came, and how many each source has. */
  readonly #silent = new Set<Socket>();
  readonly #silentOf = new Map<string, number>();
  /**
   * The answer to the last request of a connection. Whether that is still awaited is checked only when a connection
   * must go: a listener on every answer would slow down each check-in.
   */
  readonly #answers = new WeakMap<Socket, ServerResponse>();

  constructor(open: Set<Socket>, newcomers: number) {
    this.#open = open;
    this.#newcomers = newcomers;
  }

  add(socket: Socket): void {
    const source = sourceOf(socket.remoteAddress);
    this.#sourceOf.set(socket, source);
    const sockets = this.#held.get(source) ?? new Set();
    this.#held.set(source, sockets.add(socket));
    this.#open.add(socket);
    this.#silent.add(socket);
    this.#silentOf.set(source, (this.#silentOf.get(source) ?? 0) + 1);
    socket.once('close', () => this.#remove(socket));
  }

  asked(socket: Socket, response: ServerResponse): void {
    this.#speaks(socket);
    this.#answers.set(socket, response);
  }

  endOne(newcomer: Socket): void {
    const found = this.#oldestSilent() ?? this.#oldestOfLargest(newcomer);
    if (!found) return;
    // Its `close` comes later, and it must not be counted until then.
    this.#remove(found);
    found.destroy();
  }

  #oldestSilent(): Socket | null {
    if (this.#silent.size <= this.#newcomers) return null;
    let most = 0;
    for (const count of this.#silentOf.values()) most = Math.max(most, count);
    for (const socket of this.#silent) {
      if (this.#silentOf.get(this.#sourceOf.get(socket) ?? '') === most) return socket;
    }
    return null;
  }

  #oldestOfLargest(newcomer: Socket): Socket | null {
    let most = 0;
    for (const { size } of this.#held.values()) most = Math.max(most, size);
    let found: Socket | null = null;
    for (const socket of this.#open) {
      if (socket === newcomer || this.#held.get(this.#sourceOf.get(socket) ?? '')?.size !== most) continue;
      if (!this.waits(socket)) return socket;
      found ??= socket;
    }
    return found;
  }

  waits(socket: Socket): boolean {
    const answer = this.#answers.get(socket);
    return answer !== undefined && !answer.writableFinished && !answer.closed;
  }

  #speaks(socket: Socket): void {
    if (!this.#silent.delete(socket)) return;
    const source = this.#sourceOf.get(socket) ?? '';
    const left = (this.#silentOf.get(source) ?? 0) - 1;
    if (left > 0) this.#silentOf.set(source, left);
    else this.#silentOf.delete(source);
  }

  #remove(socket: Socket): void {
    if (!this.#open.delete(socket)) return;
    this.#speaks(socket);
    const source = this.#sourceOf.get(socket) ?? '';
    const sockets = this.#held.get(source);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#held.delete(source);
  }
}

/**
 * Addresses that one client can easily have count as one source: all of this host's own, and all in the /64 network
 * of an IPv6 address, where every host has 2^64.
 */
export function sourceOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'loopback';
  const parsed = ipaddr.process(address);
  if (parsed.range() === 'loopback') return 'loopback';
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
