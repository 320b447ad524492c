/**
 * The hosts of docs/cluster.md on this one: the page is followed word for word, except for names, paths and ports.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import * as assert from 'uvu/assert';
import { readPage } from '../../docs/pages.ts';
import { freePort } from '../../free-port.ts';
import { clusterUser, programPath, runProgram } from '../../store/postgres/clusters/programs.ts';
import { PostgresServer } from '../../store/postgres/clusters/server.ts';
import { watchOver } from '../../store/postgres/clusters/watcher.ts';

/** The answer to all questions that the page's commands ask. */
export const PASSWORD = 'p@ss/w:rd#1?%';

const PAGE = readPage('docs/cluster.md');

/** The blocks in this language below a heading of the page, up to the next one. */
export function blocksBelow(heading: string, language: string): string[] {
  const lines = PAGE.text.split('\n');
  const from = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line.startsWith('#')) + 1;
  assert.ok(from > 0, `docs/cluster.md has no heading ${heading}`);
  const after = lines.findIndex((line, index) => index >= from && /^#+ \w/.test(line) && !isInBlock(index));
  const to = after < 0 ? lines.length : after;
  return PAGE.blocks
    .filter((block) => block.language === language && block.line > from && block.line <= to)
    .map(({ text }) => text);
}

/** A line of a block may begin with # too. */
function isInBlock(index: number): boolean {
  return PAGE.blocks.some(({ line, text }) => index >= line && index < line + text.split('\n').length - 1);
}

export function onlyBlockBelow(heading: string, language: string): string {
  const [block, ...others] = blocksBelow(heading, language);
  assert.equal(others, [], heading);
  assert.ok(block !== undefined, `${heading}: no block of ${language}`);
  return block;
}

export interface DatabaseHost {
  name: 'db1' | 'db2';
  server: PostgresServer;
  /** In place of /etc/postgresql/15/main. */
  etc: string;
}

/** A directory for all of them that the servers can enter. */
export class Hosts implements AsyncDisposable {
  readonly root: string;
  readonly databases: DatabaseHost[] = [];
  readonly #watcher;

  constructor() {
    this.root = mkdtempSync(join(tmpdir().length > 60 ? '/tmp' : tmpdir(), 'snitch-page-'));
    this.#watcher = watchOver(this.root);
    this.#own(this.root);
    this.#writeTools();
    for (const directory of ['srv', 'srv/wal']) {
      mkdirSync(join(this.root, directory));
      this.#own(join(this.root, directory));
    }
  }

  async addDatabase(name: DatabaseHost['name']): Promise<DatabaseHost> {
    const etc = join(this.root, `etc-${name}`);
    mkdirSync(join(etc, 'conf.d'), { recursive: true });
    const server = new PostgresServer(join(this.root, name), await freePort());
    const host = { name, server, etc };
    this.databases.push(host);
    this.initialize(host);
    return host;
  }

  /** Does what the installation of Debian's package does, with the port and the user of this host. */
  initialize(host: DatabaseHost): void {
    const { server } = host;
    const access = ['--auth-local=trust', '--auth-host=scram-sha-256', '--no-sync', '--locale=C.UTF-8'];
    runProgram('initdb', ['-D', server.directory, '-U', 'postgres', '--wal-segsize=1', ...access]);
    this.#place(host);
  }

  /** On Debian the configuration is outside the data directory, and is not copied with it. */
  #place({ server, etc }: DatabaseHost): void {
    const small = ['shared_buffers = 16MB', 'dynamic_shared_memory_type = mmap', 'fsync = off'];
    const own = [...small, `include_dir = '${etc}/conf.d'`];
    const lines = [...own, `unix_socket_directories = '${this.root}'`, ''];
    writeFileSync(join(server.directory, 'postgresql.conf'), lines.join('\n'));
  }

  /** The lines of a file of the page on this host. */
  configure(host: DatabaseHost, heading: string, name: string): void {
    const text = this.adapted(onlyBlockBelow(heading, 'postgresql'), host);
    // Instead of its own address, each host here has its own port.
    const lines = [text.replace('db1', host.name), `port = ${host.server.port}\n`];
    writeFileSync(join(host.etc, 'conf.d', name), lines.join('\n'));
    appendFileSync(
      join(host.server.directory, 'pg_hba.conf'),
      this.adapted(onlyBlockBelow(heading, 'hba'), host),
    );
  }

  /** Runs the commands of a block one after the other, on the host that the page names. */
  async run(block: string, host: DatabaseHost): Promise<string> {
    const said: string[] = [];
    for (const line of block.trimEnd().split('\n')) {
      const [, act] = /^sudo systemctl (\w+) postgresql@15-main$/.exec(line) ?? [];
      if (/^sudo apt install /.test(line)) continue;
      if (act === undefined) said.push(this.#shell(this.adapted(line, host), host));
      else await this.#control(host, act);
      if (line.includes('pg_basebackup')) this.#place(host);
    }
    return said.join('');
  }

  /**
   * The first value that a server answers, in its own words, or nothing. A connection of this process costs a tenth of a
   * program with its shell.
   */
  async ask({ server }: DatabaseHost, sql: string, database: string): Promise<string> {
    const client = new pg.Client({
      host: this.root,
      port: server.port,
      user: 'postgres',
      database,
      ssl: false,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const types = { getTypeParser: () => String };
      const { rows } = await client.query<(string | null)[]>({ text: sql, rowMode: 'array', types });
      return rows?.[0]?.[0] ?? '';
    } finally {
      await client.end();
    }
  }

  async #control({ server }: DatabaseHost, act: string): Promise<void> {
    if (act !== 'start' && server.isRunning) await server.stop();
    if (act !== 'stop') await server.start();
  }

  #shell(line: string, { server }: DatabaseHost): string {
    const path = `${join(this.root, 'tools')}:${programPath('')}:${process.env.PATH}`;
    return execFileSync('bash', ['-c', line], {
      // Without a terminal, commands read a password from here; one that needs none may end before it is written.
      input: /--pwprompt|pg_basebackup/.test(line) ? `${PASSWORD}\n${PASSWORD}\n` : '',
      encoding: 'utf8',
      cwd: this.root,
      env: {
        PATH: path,
        LC_ALL: 'C.UTF-8',
        PGHOST: this.root,
        PGPORT: String(server.port),
        PGUSER: 'postgres',
        HOME: this.root,
      },
      timeout: 120_000,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Replaces the page's names and paths by those of this host. */
  adapted(text: string, { server, etc }: DatabaseHost): string {
    const other = this.databases.find((host) => host.server !== server) ?? this.databases[0];
    return text
      .replace(/(?<=CN=|DNS:)db\d\.example\.com/g, 'localhost')
      .replace(/host=db\d\.example\.com/g, `host=localhost port=${other?.server.port}`)
      .replaceAll('10.0.0.0/24', '127.0.0.1/32')
      .replaceAll(`listen_addresses = '*'`, `listen_addresses = '127.0.0.1'`)
      .replaceAll('/etc/postgresql/15/main', etc)
      .replaceAll('/var/lib/postgresql/15/main', server.directory)
      .replaceAll('/var/backups', this.root)
      .replaceAll('/srv/postgresql', join(this.root, 'srv'))
      .replaceAll('-o postgres -g postgres', this.#owner());
  }

  #owner(): string {
    const { uid, gid } = clusterUser();
    return process.getuid?.() === 0 ? `-o ${uid} -g ${gid}` : '';
  }

  #own(path: string): void {
    const { uid, gid } = clusterUser();
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
  }

  /** As root, switches to the user of the servers; anybody else already is that user. */
  #writeTools(): void {
    const tools = join(this.root, 'tools');
    mkdirSync(tools);
    const { uid, gid } = clusterUser();
    const become = process.getuid?.() === 0 ? `setpriv --reuid=${uid} --regid=${gid} --clear-groups` : '';
    const sudo = `#!/bin/sh\nif [ "$1" = -u ]; then shift 2; exec ${become} "$@"; fi\nexec "$@"\n`;
    writeFileSync(join(tools, 'sudo'), sudo);
    chmodSync(join(tools, 'sudo'), 0o755);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const { server } of this.databases.toReversed())
        if (server.isRunning) await server.stop('SIGQUIT');
    } finally {
      await this.#watcher.finish();
    }
  }
}
