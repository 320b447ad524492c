/** Where the daemon listens: an address, a Unix socket, or the socket that a service manager holds for it. */
import { lstatSync, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

/** Connections that wait to be taken; the kernel cuts it to `net.core.somaxconn`. */
const BACKLOG = 4_096;

export interface ListenOptions {
  /** The descriptor of the service manager's socket; null: the daemon opens what the configuration names. */
  socket: number | null;
  logger: Logger;
}

/** Listens, and answers with the address that clients on this host can use. */
export async function listen(
  app: FastifyInstance,
  { listen, baseUrl }: Config,
  { socket, logger }: ListenOptions,
): Promise<string> {
  if (socket !== null) {
    await listenOn(app, socket);
  } else if (listen.kind === 'unix') {
    await removeStaleSocket(listen.path);
    await app.listen({ path: listen.path, backlog: BACKLOG });
  } else {
    await app.listen({ host: listen.host, port: listen.port, backlog: BACKLOG });
  }
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') return `unix:${bound}`;
  // A name that was configured is kept, where the kernel knows only its address.
  const name = socket === null && listen.kind === 'tcp' ? listen.host : bound.address;
  const isWildcard = name === '0.0.0.0' || name === '::';
  if (isWildcard && baseUrl === null) {
    logger.warn('set base_url: the check-in addresses name this host as it calls itself');
  }
  const host = isWildcard ? hostname() : name;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`;
}

async function listenOn(app: FastifyInstance, socket: number): Promise<void> {
  try {
    // The type does not know that the server takes a descriptor; without a host the framework looks for localhost.
    await app.listen({ fd: socket, host: '::', backlog: BACKLOG } as object);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(
      `the service manager passed descriptor ${socket}, and that is no socket to listen on (${code})`,
    );
  }
}

/**
 * A socket that nobody answers on was left by a daemon that was killed. Anything else at the path is somebody's, put
 * there by a mistake in the configuration, and stays.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`cannot listen on ${path}: it exists and is not a socket`);
  const refused = await new Promise<boolean>((resolve) => {
    const probe = createConnection(path, () => resolve(false));
    probe.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
    probe.unref();
  });
  if (refused) unlinkSync(path);
}
