/** Listens on an address, on a Unix socket, or on the socket that a service manager holds for the daemon. */
import { fstatSync, lstatSync, readFileSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** How many connections may wait to be accepted; the kernel allows no more than `net.core.somaxconn`. */
const BACKLOG = 4_096;

type ListenPlace = { fd: number } | { path: string } | { host: string; port: number };

export interface ListenOptions {
  /** The descriptor of the service manager's socket; null if the daemon has to open what the configuration names. */
  socket: number | null;
  logger: Logger;
}

export interface Listening {
  /** The address that clients on this host can use; `unix:/path` for a socket file. */
  url: string;
  /** What the addresses for other hosts begin with, unless the configuration names something better. */
  baseUrl: string;
}

/** Listens without the framework, which would ask the kernel for all addresses of the host in order to log them. */
export async function listen(
  app: FastifyInstance,
  { listen, baseUrl }: Config,
  { socket, logger }: ListenOptions,
): Promise<Listening> {
  await app.ready();
  if (socket !== null) {
    await listenOnPassed(app.server, socket);
  } else if (listen.kind === 'unix') {
    await removeStaleSocket(listen.path);
    await bindOwn(app.server, { path: listen.path });
  } else {
    await bindOwn(app.server, { host: listen.host, port: listen.port });
  }
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') {
    return { url: `unix:${bound ?? pathOf(socket)}`, baseUrl: 'http://localhost' };
  }
  // The configured name is used, because the kernel knows only the address.
  const name = socket === null && listen.kind === 'tcp' ? listen.host : bound.address;
  const loopback = WILDCARDS.get(name);
  if (loopback === undefined)
    return { url: addressOf(name, bound.port), baseUrl: addressOf(name, bound.port) };
  if (baseUrl === null) {
    logger.warn('set base_url: the check-in addresses name this host as it calls itself');
  }
  return { url: addressOf(loopback, bound.port), baseUrl: addressOf(hostname(), bound.port) };
}

/** Addresses that stand for all of the host's addresses, each with the one that clients on this host can use. */
const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Why an address cannot be listened on, and what to do about it. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program listens there; if that is another snitch, stop it first, else set `listen` to another address',
  EADDRNOTAVAIL: 'this host has no such address: set `listen` to one that it has',
  EACCES: 'this user may not; a port below 1024 is only for root: set `listen` to another address',
  ENOTFOUND: 'the name has no address: set `listen` to an address of this host',
};

/** The same for a socket file, where Node reports `EACCES` even if the directory does not exist. */
const REASONS_OF_FILE: Readonly<Record<string, string>> = {
  ...REASONS,
  EACCES: 'its directory does not exist, or this user may not write into it',
};

/** @throws Error that says in words what to do */
async function bindOwn(
  server: Server,
  place: { path: string } | { host: string; port: number },
): Promise<void> {
  try {
    await bind(server, place);
  } catch (error) {
    const { code = 'unknown', message } = error as NodeJS.ErrnoException;
    const [shown, reasons] =
      'path' in place
        ? [place.path, REASONS_OF_FILE]
        : [addressOf(place.host, place.port).slice('http://'.length), REASONS];
    throw new Error(`cannot listen on ${shown}: ${reasons[code] ?? message} (${code})`, { cause: error });
  }
}

function bind(server: Server, place: ListenPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...place, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function listenOnPassed(server: Server, socket: number): Promise<void> {
  try {
    await bind(server, { fd: socket });
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(
      `the service manager passed descriptor ${socket}, which is not a socket to listen on (${code})`,
    );
  }
}

/** Node does not know the path of a socket that it did not bind itself, but the kernel's table has it by inode. */
function pathOf(socket: number | null): string {
  const { ino } = fstatSync(socket ?? 0);
  const rows = readFileSync('/proc/net/unix', 'utf8').split('\n');
  const [path] = rows
    .map((row) => row.split(/ +/))
    .flatMap((row) => (Number(row[6]) === ino ? [row[7]] : []));
  return path ?? '';
}

/**
 * Removes a socket that nobody listens on, which a killed daemon has left behind. Anything else at the path is not ours
 * and stays, because the configuration must have named it by mistake.
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
