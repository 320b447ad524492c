/** Lets the clients go when the server is stopping. */
import type { Server } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** If no request has come for this long, none is on its way over the open connections. Milliseconds. */
const QUIET_FOR = 250;

/** How often that is checked, in milliseconds. */
const LOOK_EVERY = 25;

/** A check that comes later than this was held up, and so were requests in the meantime. Milliseconds. */
const HELD_UP = 3 * LOOK_EVERY;

/**
 * Accepts no new connection and closes no open one: each gets one more answer, which tells the client to use a
 * new connection. Closing them at once would lose requests on their way, perhaps a check-in.
 *
 * @param connections those that are open
 * @param within how long to wait for clients that have not sent what they connected for, in milliseconds
 * @returns once all connections have ended, or those that are left have been answered before and are silent
 */
export async function drain(server: Server, connections: ReadonlySet<Socket>, within: number): Promise<void> {
  if (!server.listening) return;
  let over = false;
  let lastRequestAt = performance.now();
  const noteRequest = () => {
    lastRequestAt = performance.now();
  };
  server.on('request', noteRequest);
  const late = setTimeout(() => {
    over = true;
  }, within);
  // The HTTP server's own `close` would close the connections that have no request at this moment.
  SocketServer.prototype.close.call(server, () => {
    over = true;
  });
  const isQuiet = () => performance.now() - lastRequestAt >= QUIET_FOR && !hasNewcomer(connections);
  while (!over && !isQuiet()) {
    const lookedAt = performance.now();
    await sleep(LOOK_EVERY);
    if (performance.now() - lookedAt > HELD_UP) noteRequest();
  }
  clearTimeout(late);
  server.off('request', noteRequest);
}

/** Closes those that have no request under way, and waits for the others. */
export async function closeConnections(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  // It no longer listens; all that is left for `close` to do is to close connections.
  server.close(() => {});
  while (connections.size > 0) await sleep(LOOK_EVERY);
}

/** Whether a client was accepted that has sent nothing yet: it will, since it connected for a reason. */
function hasNewcomer(connections: ReadonlySet<Socket>): boolean {
  for (const { bytesRead } of connections) if (bytesRead === 0) return true;
  return false;
}
