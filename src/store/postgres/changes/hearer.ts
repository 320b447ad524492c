/** Hears what other nodes have committed, on a connection of its own, and says so when it may have missed something. */
import pg from 'pg';
import type { Primary } from '../hosts/primary.ts';
import type { Session } from '../hosts/session.ts';
import { type Heard, heardIn } from './messages.ts';
import { channelOf } from './teller.ts';

export interface HearerOptions {
  readonly primary: Pick<Primary, 'connect'>;
  /** The id of this node, which does not hear itself. */
  readonly node: string;
  readonly schema: string;
  readonly onHeard: (heard: Heard) => void;
  /** How often the quiet connection is tried, and a lost one tried again; milliseconds. */
  readonly every?: number;
}

const EVERY = 5_000;

/** Between two attempts to connect again, in milliseconds. */
const PAUSE = 250;

/** A connection on which nothing is heard may be dead: it is asked so often that a partition is noticed in seconds. In milliseconds. */
const PATIENCE = 3_000;

export class ChangeHearer {
  readonly #options: Required<HearerOptions>;
  #session: Session | null = null;
  #timer: NodeJS.Timeout | null = null;
  #connecting: Promise<void> = Promise.resolve();
  #isStopped = false;
  #isAsking = false;

  constructor(options: HearerOptions) {
    this.#options = { every: EVERY, ...options };
  }

  /** Whether changes of others are heard at the moment. */
  get isListening(): boolean {
    return this.#session !== null;
  }

  /** @throws what keeps it from listening */
  async start(): Promise<void> {
    await this.#listen();
    this.#timer = setInterval(() => void this.#ask(), this.#options.every).unref();
  }

  /** Whether the other end is there: if not, the session is broken by its own deadline. */
  async #ask(): Promise<void> {
    if (!this.#session || this.#isAsking) return;
    this.#isAsking = true;
    await this.#session.client.query('SELECT 1').catch(() => undefined);
    this.#isAsking = false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#connecting;
    const session = this.#session;
    this.#session = null;
    await session?.end();
  }

  async #listen(): Promise<void> {
    const { primary, schema, node, onHeard } = this.#options;
    const session = await primary.connect({ purpose: 'changes', answerWithinMs: PATIENCE, pipeline: false });
    try {
      session.client.on('notification', ({ payload }) => {
        const heard = heardIn(payload ?? '', node);
        if (heard) onHeard(heard);
      });
      await session.client.query(`LISTEN ${pg.escapeIdentifier(channelOf(schema))}`);
    } catch (error) {
      session.destroy();
      throw error;
    }
    this.#session = session;
    session.onBroken(() => this.#lost(session));
  }

  #lost(session: Session): void {
    if (this.#session !== session) return;
    this.#session = null;
    this.#connecting = this.#reconnect();
  }

  /** What was said meanwhile is lost, so that the listener is told to look at everything anew, once it is heard again. */
  async #reconnect(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#listen();
        this.#options.onHeard('reset');
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  }
}
