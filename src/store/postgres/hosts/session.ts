/** One connection to one host, set up as the store needs it. It never hangs and never ends the process. */
import { Socket } from 'node:net';
import { userInfo } from 'node:os';
import pg from 'pg';
import {
  type DatabaseHost,
  describeHost,
  type PostgresAddress,
} from '../../../core/database/postgres-url.ts';
import { queryFacts } from './ask.ts';
import { cancel } from './cancel.ts';
import type { ServerFacts } from './facts.ts';
import { ConnectionFault, connectionFault, endsSession } from './faults.ts';
import { setUp } from './set-up.ts';
import { mayHelpOtherwise, type TlsAttempt, tlsAttempts } from './tls.ts';

export interface SessionOptions {
  readonly address: PostgresAddress;
  /** The schema of tables and indexes; nothing outside it is found by its unqualified name. */
  readonly schema: string;
  /** Milliseconds in which a statement must be answered; otherwise the connection is closed. */
  readonly answerWithinMs: number;
  /** Sends several statements before the first one is answered. */
  readonly pipeline?: boolean;
  /** Checks whether this program can use the session that was set up; throws if not. */
  readonly admit?: (client: pg.ClientBase) => Promise<void>;
  /** Distinguishes it in the server's list of connections. */
  readonly purpose?: string;
}

export interface Session {
  readonly client: pg.Client;
  readonly host: DatabaseHost;
  readonly facts: ServerFacts;
  /** A connection pooler is in between: the process that answers is not the one that was connected to. */
  readonly isPooled: boolean;
  /** It ended, or an error showed that it is useless. */
  readonly isBroken: boolean;
  /** Called once, with what broke it, as soon as it is broken. */
  onBroken(listener: (error: Error) => void): void;
  /** Says goodbye to the server; resolves when the connection is gone. */
  end(): Promise<void>;
  /** Closes it at once, and asks the server to stop what it still does for it. */
  destroy(error?: Error): void;
}

/** How soon the other end of a quiet connection is probed, in milliseconds. */
const KEEP_ALIVE_MS = 2_000;

/** What `pg` stores about the server's process and its socket; its types omit most of it. */
interface Backend {
  processID: number | null;
  secretKey: number | null;
  connection: { stream: Socket };
}

/**
 * Connects to this host, asks what it is and sets the connection up. The caller decides whether it can be written to.
 *
 * @throws ConnectionFault that names the host
 */
export async function openSession(host: DatabaseHost, options: SessionOptions): Promise<OpenSession> {
  const attempts = tlsAttempts(options.address.tls, host);
  let failure: unknown = null;
  for (const attempt of attempts) {
    try {
      return await OpenSession.open(host, attempt, options);
    } catch (error) {
      failure = error;
      if (!mayHelpOtherwise(error instanceof ConnectionFault ? error.cause : error)) break;
    }
  }
  throw connectionFault(describeHost(host), failure);
}

export class OpenSession implements Session {
  readonly client: pg.Client;
  readonly host: DatabaseHost;
  readonly #socket = new Socket();
  readonly #options: SessionOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((error: Error) => void)[] = [];
  #facts: ServerFacts | null = null;
  #pending = 0;
  #isGathering = false;
  #broken: Error | null = null;

  static async open(host: DatabaseHost, tls: TlsAttempt, options: SessionOptions): Promise<OpenSession> {
    const session = new OpenSession(host, tls, options);
    const place = describeHost(host);
    const { connectTimeoutMs } = options.address;
    const late = new ConnectionFault(`${place} did not answer within ${connectTimeoutMs / 1_000} s`);
    const timer = setTimeout(() => session.destroy(late), connectTimeoutMs);
    try {
      await session.client.connect();
      session.#facts = await queryFacts(session.client);
      return session;
    } catch (error) {
      session.destroy();
      throw session.#broken === late ? late : connectionFault(place, error);
    } finally {
      clearTimeout(timer);
    }
  }

  constructor(host: DatabaseHost, tls: TlsAttempt, options: SessionOptions) {
    this.host = host;
    this.#options = options;
    this.client = new pg.Client({
      ...whoOf(options.address, describeHost(host)),
      host: host.host,
      port: host.port,
      ssl: tls,
      sslnegotiation: 'postgres',
      application_name: [options.address.applicationName, options.purpose].filter(Boolean).join(' '),
      stream: () => this.#socket,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: options.pipeline ?? false,
    });
    // Without a listener, a server that restarts would crash this process.
    this.client.on('error', (error) => this.#break(error));
    this.client.on('end', () =>
      this.#break(new ConnectionFault(`${describeHost(host)} ended the connection`)),
    );
    this.#timer = setTimeout(() => this.#giveUp(), options.answerWithinMs).unref();
    this.#watchQueries();
  }

  get facts(): ServerFacts {
    if (!this.#facts) throw new Error('the session is not open yet');
    return this.#facts;
  }

  get isPooled(): boolean {
    return this.#backend().processID !== this.facts.backend;
  }

  get isBroken(): boolean {
    return this.#broken !== null;
  }

  onBroken(listener: (error: Error) => void): void {
    if (this.#broken) listener(this.#broken);
    else this.#listeners.push(listener);
  }

  /** Sets it up for the store. */
  async prepare(): Promise<void> {
    await setUp(this.client, this.#options);
    await this.#options.admit?.(this.client);
  }

  async end(): Promise<void> {
    if (this.#broken) return;
    // A host that is gone never says goodbye.
    const timer = setTimeout(() => this.destroy(), KEEP_ALIVE_MS);
    await this.client.end();
    clearTimeout(timer);
  }

  destroy(error = new ConnectionFault(`the connection to ${describeHost(this.host)} was given up`)): void {
    if (this.#pending > 0) this.#cancel();
    this.#break(error);
    this.#socket.destroy(error);
  }

  #cancel(): void {
    const { processID, secretKey } = this.#backend();
    if (processID !== null && secretKey !== null) cancel(this.host, processID, secretKey);
  }

  #backend(): Backend {
    return this.client as unknown as Backend;
  }

  #break(error: Error): void {
    if (this.#broken) return;
    this.#broken = error;
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener(error);
  }

  /** The timer runs while an answer is awaited, and restarts with each answer. */
  #watchQueries(): void {
    const query = this.client.query.bind(this.client) as (...given: unknown[]) => unknown;
    const settled = (error?: unknown) => {
      this.#pending -= 1;
      this.#timer.refresh();
      if (error !== undefined && endsSession(error)) this.#break(error as Error);
    };
    const watched = (...given: unknown[]) => {
      this.#gather();
      const answer = query(...given);
      const settledBy = promiseOf(answer);
      if (!settledBy) return answer;
      if (this.#pending === 0 && !this.#broken) this.#timer.refresh();
      this.#pending += 1;
      settledBy.then(() => settled(), settled);
      return answer;
    };
    this.client.query = watched as pg.Client['query'];
  }

  /** What is sent at the same moment goes to the kernel, and mostly to the server, in one piece. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = this.#backend().connection;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  #giveUp(): void {
    if (this.#pending === 0 || this.#broken) return;
    const seconds = this.#options.answerWithinMs / 1_000;
    this.destroy(new ConnectionFault(`${describeHost(this.host)} did not answer within ${seconds} s`));
  }
}

/** A prepared query object, such as a batch of statements, is returned as it is; its own promise shows when it ends. */
function promiseOf(answer: unknown): Promise<unknown> | null {
  if (answer instanceof Promise) return answer;
  const own = (answer as { answer?: unknown } | undefined)?.answer;
  return own instanceof Promise ? own : null;
}

/** Left out, these values would come from the environment or from a file in somebody's home directory. */
function whoOf({ user, password, database }: PostgresAddress, place: string) {
  const name = user ?? userInfo().username;
  return {
    user: name,
    database: database ?? name,
    password: () => {
      if (password !== null) return password;
      throw new ConnectionFault(
        `${place}: the server asks for a password of ${name}, and there is none: put it into a file and name that in store.password_file, or for the service into /etc/credstore/snitch.store-password`,
        { isLasting: true },
      );
    },
  };
}
