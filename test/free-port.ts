import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * A free port of 127.0.0.1, for programs that need to know it beforehand, or come back there after a while. The kernel
 * gives out those above 32767 if any will do, so another test could get one of them meanwhile. No other process gets the
 * same port from here while this one lives.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** The kernel gives a name to one process at a time, and takes it back when that ends, however it does. */
function reserve(port: number): Promise<boolean> {
  const server = createServer();
  return listens(server, () => server.listen(`\0snitch test port ${port}`).unref());
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    return await listens(server, () => server.listen(port, '127.0.0.1'));
  } finally {
    if (server.listening) await once(server.close(), 'close');
  }
}

async function listens(server: Server, listen: () => void): Promise<boolean> {
  const listening = once(server, 'listening');
  listen();
  try {
    await listening;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
}
