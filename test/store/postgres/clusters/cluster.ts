/**
 * Real clusters of PostgreSQL for tests: `await using cluster = await startCluster()`. Each lies in a directory of its
 * own, listens on a socket there and on a free port of 127.0.0.1, and ends with its block, or with the process of the
 * test, however that ends.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { ending } from '../../../closing.ts';
import { freePort } from '../../../free-port.ts';
import { until } from '../../../until.ts';
import { type Link, openLink } from './link.ts';
import { clusterUser, runProgram } from './programs.ts';
import { PostgresServer } from './server.ts';
import { type Watcher, watchOver } from './watcher.ts';

export interface ClusterOptions {
  /** What is durable survives the power of the host too. Tests that kill no host go quicker without. */
  fsync?: boolean;
  /** Keeps a copy of the cluster as it was before its first run, for other clusters to start from. */
  keepsInitialized?: boolean;
  /** Lines for `postgresql.conf`. */
  configuration?: readonly string[];
  /** Lines for `pg_hba.conf`, before the one that trusts everybody on this host. */
  access?: readonly string[];
}

export interface StandbyOptions {
  /** The primary then acknowledges nothing that the standby has not on its disk. */
  synchronous?: boolean;
  /** The standby gets everything through this link, and so as late as that says. */
  linked?: boolean;
}

/** The directory of such a copy, next to that of the cluster. */
const TEMPLATE = 'initialized';

/** Long for a socket: the kernel takes no more than 107 bytes. */
const LONGEST_DIRECTORY = 80;

const SETTINGS = [
  'max_connections = 100',
  'shared_buffers = 16MB',
  // What a killed server leaves behind goes with its directory.
  'dynamic_shared_memory_type = mmap',
  'huge_pages = off',
  'max_wal_senders = 8',
  'wal_keep_size = 64MB',
  'hot_standby = on',
  'log_min_messages = warning',
  // A client that hears nothing while it waits for the standby must not wait for a day.
  'wal_sender_timeout = 10s',
];

/** A primary, or a standby until it is promoted. */
export class Cluster implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly socketDirectory: string;
  /** The link between the primary and this standby, if one was asked for. */
  readonly link: Link | null;
  readonly #home: Home;

  constructor(home: Home, server: PostgresServer, link: Link | null = null) {
    this.#home = home;
    this.server = server;
    this.socketDirectory = home.directory;
    this.link = link;
    home.clusters.push(this);
  }

  get port(): number {
    return this.server.port;
  }

  /** The address of a database, for the user who may do everything. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs SQL on a separate connection. */
  async query<Row = Record<string, unknown>>(
    sql: string,
    values: readonly unknown[] = [],
    database = 'postgres',
  ): Promise<Row[]> {
    const client = new pg.Client({
      host: this.socketDirectory,
      port: this.port,
      user: 'postgres',
      database,
      ssl: false,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query(sql, [...values]);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** A separate connection, for more than one statement. */
  async connected(database = 'postgres'): Promise<pg.Client & AsyncDisposable> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    return ending(client, () => client.end());
  }

  /** Makes an empty database, and answers its name. */
  async newDatabase(): Promise<string> {
    this.#home.databases += 1;
    const name = `test_${this.#home.databases}`;
    await this.query(`CREATE DATABASE ${name}`);
    return name;
  }

  /** Sets something for all sessions to come, or unsets it with null. */
  async set(name: string, value: string | null): Promise<void> {
    await this.query(
      value === null ? `ALTER SYSTEM RESET ${name}` : `ALTER SYSTEM SET ${name} = ${pg.escapeLiteral(value)}`,
    );
    const [before] = await this.query<{ at: string }>('SELECT pg_conf_load_time()::text AS at');
    await this.query('SELECT pg_reload_conf()');
    await until(async () => {
      const [now] = await this.query<{ at: string }>('SELECT pg_conf_load_time()::text AS at');
      return now?.at !== before?.at;
    }, 'the server has read its settings anew');
  }

  /** A copy of this primary that follows it. */
  async standby(options: StandbyOptions = {}): Promise<Cluster> {
    return addStandby(this.#home, this, options);
  }

  /** Starts again as a standby of `primary`, at the same address, like a host that comes back after a failover. */
  async rejoin(
    primary: Cluster,
    { synchronous = false }: Pick<StandbyOptions, 'synchronous'> = {},
  ): Promise<void> {
    if (this.server.isRunning) await this.server.stop('SIGQUIT');
    await copyAndFollow(this, primary, synchronous);
  }

  /** Makes the standby a primary, and waits until it takes writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 60)');
    await until(async () => !(await this.isStandby()), 'the standby is promoted');
  }

  async isStandby(): Promise<boolean> {
    const [row] = await this.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    return row?.standby ?? false;
  }

  /** This process may end before it; the cluster then ends too. */
  unref(): void {
    this.#home.unref();
  }

  /** Where this cluster ends, all that were started from it end too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home[Symbol.asyncDispose]();
  }
}

/** The directory of a primary and its standbys. */
class Home implements AsyncDisposable {
  readonly directory: string;
  readonly clusters: Cluster[] = [];
  databases = 0;
  readonly #watcher: Watcher;
  #closed: Promise<void> | null = null;

  constructor() {
    const parent = tmpdir().length > LONGEST_DIRECTORY ? '/tmp' : tmpdir();
    this.directory = mkdtempSync(join(parent, 'snitch-pg-'));
    this.#watcher = watchOver(this.directory);
    if (process.getuid?.() === 0) chownSync(this.directory, clusterUser().uid, clusterUser().gid);
    chmodSync(this.directory, 0o700);
  }

  unref(): void {
    this.#watcher.unref();
    for (const { server } of this.clusters) server.unref();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      for (const { server, link } of this.clusters.toReversed()) {
        if (server.isRunning) await server.stop('SIGQUIT');
        await link?.[Symbol.asyncDispose]();
      }
    } finally {
      await this.#watcher.finish();
    }
  }
}

/** A new primary, with nothing but what every cluster has. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  await using unfinished = new AsyncDisposableStack();
  const home = unfinished.use(new Home());
  const server = new PostgresServer(join(home.directory, 'primary'), await freePort());
  initialize(server.directory);
  if (options.keepsInitialized) execFileSync('cp', ['-a', server.directory, join(home.directory, TEMPLATE)]);
  const durability = options.fsync ? [] : ['fsync = off', 'full_page_writes = off'];
  server.configure([
    ...SETTINGS,
    ...durability,
    ...placeOf(home.directory, server),
    ...(options.configuration ?? []),
  ]);
  writeFileSync(join(server.directory, 'pg_hba.conf'), accessLines(options.access ?? []));
  const cluster = new Cluster(home, server);
  await server.start();
  unfinished.move();
  return cluster;
}

function accessLines(first: readonly string[]): string {
  const trusted = ['all', 'replication'].flatMap((what) => [
    `local ${what} all trust`,
    `host ${what} all 127.0.0.1/32 trust`,
  ]);
  return [...first, ...trusted, ''].join('\n');
}

/** Where the runner keeps an initialized directory for all files: a copy takes a third of the time. */
const INITIALIZED = 'SNITCH_TEST_INITIALIZED';

/** What `SNITCH_TEST_INITIALIZED` is set to for the processes that start clusters of their own. */
export function initializedIn({ socketDirectory }: Cluster): Record<string, string> {
  return { [INITIALIZED]: join(socketDirectory, TEMPLATE) };
}

/** All copies of a cluster have the same identifier, which no other cluster has. */
function initialize(directory: string): void {
  const from = process.env[INITIALIZED];
  if (from !== undefined && existsSync(from)) {
    execFileSync('cp', ['-a', from, directory]);
    return;
  }
  const plain = ['--no-sync', '--no-instructions', '--wal-segsize=1', '--encoding=UTF8', '--locale=C.UTF-8'];
  runProgram('initdb', ['-D', directory, '-U', 'postgres', '-A', 'trust', ...plain]);
}

function placeOf(socketDirectory: string, { port }: PostgresServer): string[] {
  return [
    `port = ${port}`,
    `listen_addresses = '127.0.0.1'`,
    `unix_socket_directories = '${socketDirectory}'`,
  ];
}

async function addStandby(
  home: Home,
  primary: Cluster,
  { synchronous = false, linked = false }: StandbyOptions,
): Promise<Cluster> {
  const name = `standby_${home.clusters.length}`;
  const server = new PostgresServer(join(home.directory, name), await freePort());
  const link = linked ? await openLink(primary.port) : null;
  const standby = new Cluster(home, server, link);
  await copyAndFollow(standby, primary, synchronous);
  return standby;
}

/** Makes the server one that follows the primary, from a copy of that. What it had before is gone. */
async function copyAndFollow(standby: Cluster, primary: Cluster, synchronous: boolean): Promise<void> {
  const { server, link, socketDirectory } = standby;
  const name = basename(server.directory);
  rmSync(server.directory, { recursive: true, force: true });
  mkdirSync(server.directory, { mode: 0o700 });
  server.own(server.directory);
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`;
  const plain = ['-X', 'stream', '-c', 'fast', '--no-sync'];
  runProgram('pg_basebackup', ['-D', server.directory, '-d', from, ...plain]);
  follow(server, link?.port ?? primary.port, name);
  server.configure(placeOf(socketDirectory, server));
  await server.start();
  const isFollowing = async () => {
    const rows = await primary.query(
      `SELECT 1 FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'`,
      [name],
    );
    return rows.length > 0;
  };
  await until(isFollowing, 'the standby follows the primary');
  if (synchronous) await primary.set('synchronous_standby_names', name);
}

/** Makes the server a standby of the one that listens on `port`, from its next start on. */
export function follow(server: PostgresServer, port: number, name: string): void {
  server.configure([
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=${name} connect_timeout=5'`,
  ]);
  const signal = join(server.directory, 'standby.signal');
  writeFileSync(signal, '');
  server.own(signal);
}
