/** A PostgreSQL server for this run only: its data lies with that of the run, and it ends with the run. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import type { Workplace } from '../workplace.ts';

/** The newest that is installed where Debian puts it. */
const BIN = [18, 17, 16, 15]
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((directory) => existsSync(join(directory, 'initdb')));

/** Debian's defaults, except for these: a server for a million snitches has some memory, and few checkpoints. */
const SETTINGS = [
  'shared_buffers = 512MB',
  'max_wal_size = 4GB',
  'huge_pages = off',
  'max_connections = 200',
];

export interface PostgresCluster {
  version: string;
  pid: number;
  port: number;
  /** Makes an empty database. @returns its name */
  newDatabase(): Promise<string>;
}

/** The address of a database. With the port of the server itself, nothing delays what is sent. */
export function databaseUrl(port: number, name: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${name}`;
}

/** @throws Error in words if PostgreSQL is not installed */
export async function startCluster(workplace: Workplace): Promise<PostgresCluster> {
  if (BIN === undefined)
    throw new Error('PostgreSQL is not installed: apt-get install postgresql (Debian, Ubuntu)');
  const bin = BIN;
  const user = serverUser();
  // The server's own user may not read this directory, but has to reach its own directory below it.
  chmodSync(workplace.directory, 0o711);
  const directory = workplace.path('cluster');
  mkdirSync(directory, { mode: 0o700 });
  if (user) chownSync(directory, user.uid, user.gid);
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(bin, program), args, { ...user, cwd: '/', stdio: 'ignore' });
  run('initdb', '-D', directory, '-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--locale=C.UTF-8');
  const port = await freePort();
  const place = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${directory}'`,
  ];
  appendFileSync(join(directory, 'postgresql.conf'), [...SETTINGS, ...place, ''].join('\n'));
  workplace.atEnd(() => {
    if (existsSync(join(directory, 'postmaster.pid')))
      run('pg_ctl', 'stop', '-w', '-m', 'immediate', '-D', directory);
  });
  run('pg_ctl', 'start', '-w', '-D', directory, '-l', join(directory, 'server.log'));
  const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const [row] = await ask<{ server_version: string }>(databaseUrl(port, 'postgres'), 'SHOW server_version');
  let databases = 0;
  return {
    version: row?.server_version ?? 'of an unknown version',
    pid,
    port,
    newDatabase: async () => {
      databases += 1;
      const name = `bench_${databases}`;
      await ask(databaseUrl(port, 'postgres'), `CREATE DATABASE ${name}`);
      return name;
    },
  };
}

/** PostgreSQL refuses to run as root. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const account = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('postgres:'));
  const [, , uid, gid] = account?.split(':') ?? [];
  if (!uid || !gid) throw new Error('there is no user postgres to run the server as');
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}

/** Runs statements on a connection of its own, one after the other. @returns the rows of the last one */
export async function ask<Row extends object>(url: string, ...statements: readonly string[]): Promise<Row[]> {
  return connected(url, async (client) => {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    return rows;
  });
}

export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, ssl: false });
  // The server may be stopped while the connection is open.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
