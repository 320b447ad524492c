/**
 * A PostgreSQL cluster of its own for a test file: as an unprivileged user, in a directory of its own, on a socket and no
 * port. With SNITCH_TEST_POSTGRES it is the one whose socket is in that directory, which saves its start.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

const ROOM = '/usr/lib/postgresql';

export interface Cluster {
  /** The directory of the socket. */
  host: string;
  stop(): void;
}

let shared: Cluster | null = null;

/** The one of this process; it ends with it. */
export function cluster(): Cluster {
  if (shared) return shared;
  shared = given() ?? start();
  process.once('exit', shared.stop);
  // For the processes that a test starts.
  process.env.SNITCH_TEST_POSTGRES = shared.host;
  return shared;
}

/** One that a test changes the settings of: `using own = ownCluster()`. */
export function ownCluster(): Cluster & AsyncDisposable {
  const own = start();
  return { ...own, [Symbol.asyncDispose]: async () => own.stop() };
}

function given(): Cluster | null {
  const host = process.env.SNITCH_TEST_POSTGRES;
  return host === undefined ? null : { host, stop: () => {} };
}

function start(): Cluster {
  const version = readdirSync(ROOM).sort((one, other) => Number(other) - Number(one))[0] ?? '';
  const host = mkdtempSync(join(tmpdir(), 'snitch-pg-'));
  const data = join(host, 'data');
  const run = (program: string, ...values: string[]) =>
    execFileSync(join(ROOM, version, 'bin', program), values, { ...owner(host), cwd: '/', stdio: 'ignore' });
  run('initdb', '-D', data, '-U', 'snitch', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
  const settings = [
    `listen_addresses = ''`,
    `unix_socket_directories = '${host}'`,
    'fsync = off',
    'max_connections = 200',
    'max_locks_per_transaction = 256',
  ];
  appendFileSync(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`);
  run('pg_ctl', '-D', data, '-l', join(host, 'log'), '-w', 'start');
  const stop = () => {
    run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
    rmSync(host, { recursive: true, force: true });
  };
  return { host, stop };
}

/** PostgreSQL does not run as root. */
function owner(directory: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [id('-u'), id('-g')];
  chownSync(directory, uid, gid);
  return { uid, gid };
}

const made = new Map<string, Promise<string>>();

/** The schema that stands for a directory: the same one for the same directory. */
export function schemaOf(directory: string, host?: string): Promise<string> {
  const schema = `t_${directory.replace(/\W+/g, '_').toLowerCase()}`.slice(-60);
  const making = made.get(schema) ?? make(schema, host);
  made.set(schema, making);
  return making;
}

async function make(schema: string, host?: string): Promise<string> {
  const client = new pg.Client({ ...settingsOf('public'), ...(host === undefined ? {} : { host }) });
  await client.connect();
  try {
    await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  } finally {
    await client.end();
  }
  return schema;
}

function settingsOf(schema: string) {
  return {
    get host() {
      return cluster().host;
    },
    user: 'snitch',
    database: 'postgres',
    options: `-c search_path="${schema}"`,
    application_name: 'snitch',
    pipeline: true,
  };
}

/** Connections to the schema of a directory. */
export async function poolOf(directory: string, settings: pg.PoolConfig = {}): Promise<pg.Pool> {
  const application_name = `snitch ${directory}`;
  const pool = new pg.Pool({
    ...settingsOf(await schemaOf(directory, settings.host)),
    max: 10,
    application_name,
    ...settings,
  });
  pool.on('error', () => {});
  return pool;
}
