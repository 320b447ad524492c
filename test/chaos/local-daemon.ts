/** The daemon in the test's own process, on a wall clock that the test moves; everything else about it is real. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { createLogger } from '../../src/log/logger.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { setDatabaseClock } from '../store/postgres/database-clock.ts';
import { storeSettings } from '../store/postgres/databases.ts';
import { ON_POSTGRES, queryOnPostgres } from '../store/postgres/open.ts';
import { until } from '../until.ts';

/**
 * The clock of the host. It runs like the real one, from wherever it is put; on PostgreSQL that of the database, which all
 * nodes go by there, is always put there too.
 */
export class MovableClock {
  #offset: number;
  #database: string | null = null;

  constructor(start: string) {
    this.#offset = Date.parse(start) - Date.now();
  }

  now = (): number => Date.now() + this.#offset;

  /** Makes the database of this directory follow it from now on. */
  async lead(directory: string): Promise<void> {
    this.#database = directory;
    await this.move(0);
  }

  /** Resolves when both clocks show the new time. */
  async move(milliseconds: number): Promise<void> {
    this.#offset += milliseconds;
    if (this.#database !== null) await setDatabaseClock(this.#database, this.#offset);
  }

  /** @param time an ISO time */
  set(time: string): Promise<void> {
    return this.move(Date.parse(time) - this.now());
  }
}

/**
 * So far the clock may jump, in milliseconds, and neither a daemon that has its database to itself takes that for sleep, nor
 * do the nodes of a cluster take it for a time in which none of them lived; with a second or two that pass meanwhile.
 */
const NO_SLEEP = ON_POSTGRES ? 4_000 : 8_000;

export interface LogLine {
  level: string;
  msg: string;
}

export class LocalDaemon {
  readonly clock: MovableClock;
  readonly dataDir = newDataDir();
  readonly log: LogLine[] = [];
  readonly #settings: Record<string, string>;
  #daemon: Daemon | null = null;
  #keys = { admin_key: '', api_key: '' };
  url = '';

  /** @param settings environment variables without their prefix, `SMTP_URL` for one */
  constructor(clock: MovableClock, settings: Record<string, string> = {}) {
    this.clock = clock;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    if (ON_POSTGRES) await this.clock.lead(this.dataDir);
    const given = Object.entries(this.#settings).map(([name, value]) => [`SNITCH_${name}`, value]);
    const config = await loadConfig({
      env: {
        SNITCH_LISTEN: '127.0.0.1:0',
        SNITCH_DATA_DIR: this.dataDir,
        SNITCH_RATE_LIMIT_PER_MINUTE: '0',
        SNITCH_SMTP_FROM: 'Snitch <snitch@example.org>',
        ...(await storeSettings(this.dataDir)),
        ...Object.fromEntries(given),
      },
    });
    const write = (line: string) => this.log.push(JSON.parse(line) as LogLine);
    const logger = createLogger({ level: 'debug', format: 'json' }, { write });
    this.#daemon = await startDaemon(config, logger, { clock: this.clock.now });
    this.url = this.#daemon.url;
    this.#keys = parse(readFileSync(join(this.dataDir, 'credentials.yaml'), 'utf8')) as typeof this.keys;
  }

  /** Lets this many milliseconds pass, or a little more, as quickly as possible without the daemon taking it for sleep. */
  async liveOn(milliseconds: number): Promise<void> {
    const end = this.clock.now() + milliseconds;
    while (this.clock.now() < end) {
      await this.clock.move(Math.min(NO_SLEEP, end - this.clock.now()));
      await this.#livesNow();
    }
  }

  /** Resolves when the daemon has noticed the time. */
  async #livesNow(): Promise<void> {
    if (!ON_POSTGRES) return sleep(1_000);
    const now = this.clock.now();
    const sign = 'SELECT max(alive_at) >= ? AS given FROM nodes';
    const isGiven = async () => (await queryOnPostgres<{ given: number }>(this.dataDir, sign, now))[0]?.given;
    await until(async () => (await isGiven()) === 1, 'it gives a sign of life');
  }

  async stop(): Promise<void> {
    const running = this.#daemon;
    this.#daemon = null;
    await running?.stop();
  }

  async dispose(): Promise<void> {
    await this.stop();
    removeDataDir(this.dataDir);
  }

  get keys(): { admin_key: string; api_key: string } {
    return this.#keys;
  }

  /** @returns the JSON of a successful answer, or null if it has no body */
  async call<Answer>(
    method: string,
    path: string,
    body?: unknown,
    key = this.#keys.api_key,
  ): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as Answer;
  }

  /** The status of the answer, or null if there is none. */
  async checkIn(token: string, query = ''): Promise<number | null> {
    try {
      const answer = await fetch(`${this.url}/c/${token}${query}`);
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return null;
    }
  }

  /** Whether it is ready, and if not, why. */
  async readiness(): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${this.url}/readyz`);
    return { status: answer.status, text: await answer.text() };
  }
}
