/** Shares the connections among the addresses that want them, so that nobody can lock the others out. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** What so many connections hold in memory is still small. */
const MOST_CONNECTIONS = 10_000;

/** Descriptors kept for the database, webhooks, mail and the log. */
const RESERVED = 512;

/** What a Linux process may open where nobody set anything else. */
const USUAL_DESCRIPTORS = 1_024;

/** How many connections this process can hold and still open what else it needs. */
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
 * Ends connections where there would be more than `limit`: always the oldest of the address that holds the most. A
 * limit alone would keep everybody out as soon as one client had reached it, and one for each address would be met
 * by a reverse proxy, or by many jobs behind one address that start at the same minute.
 *
 * @param open is kept filled with the connections that count
 */
export function shareConnections(server: Server, limit: number, open: Set<Socket>): void {
  const held = new Map<string, Set<Socket>>();

  const remove = (address: string, socket: Socket) => {
    const sockets = held.get(address);
    if (!sockets?.delete(socket)) return;
    open.delete(socket);
    if (sockets.size === 0) held.delete(address);
  };

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const sockets = held.get(address) ?? new Set();
    held.set(address, sockets.add(socket));
    open.add(socket);
    socket.once('close', () => remove(address, socket));
    if (open.size <= limit) return;
    const [most, [oldest]] = largest(held);
    if (!oldest) return;
    // Its `close` comes later, and it must not be counted until then.
    remove(most, oldest);
    oldest.destroy();
  });
}

function largest(held: ReadonlyMap<string, ReadonlySet<Socket>>): [string, ReadonlySet<Socket>] {
  let found: [string, ReadonlySet<Socket>] = ['', new Set()];
  for (const entry of held) if (entry[1].size > found[1].size) found = entry;
  return found;
}
