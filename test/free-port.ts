import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A free port of 127.0.0.1, for programs that need to know it beforehand, or come back there after a while. The kernel
 * gives out those above 32767 if any will do, so another test could get one of them meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(20_000, 30_000);
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      if (server.listening) await once(server.close(), 'close');
    }
  }
}
