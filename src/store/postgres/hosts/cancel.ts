/** Asks the server to stop what it does for a connection that is about to be abandoned. */
import { connect } from 'node:net';
import type { DatabaseHost } from '../../../core/database/postgres-url.ts';

/** `CancelRequest` of the protocol. */
const CANCEL = 80_877_102;

const PATIENCE_MS = 2_000;

/**
 * A server process that waits for a synchronous standby does not notice that its client is gone, and would keep its
 * locks and its place among `max_connections` until a standby comes back. Returns and throws nothing: if the request
 * does not reach the server, there is nothing more to do.
 */
export function cancel({ host, port }: DatabaseHost, process: number, secret: number): void {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL, 4);
  request.writeInt32BE(process, 8);
  request.writeInt32BE(secret, 12);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket
    .unref()
    .setTimeout(PATIENCE_MS, () => socket.destroy())
    .on('error', () => socket.destroy())
    .end(request);
}
