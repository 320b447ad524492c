/** Hears what other nodes have committed, on a connection of its own, and reports when it may have missed something. */
import pg from 'pg';
import type { Primary } from '../hosts/primary.ts';
import type { Session } from '../hosts/session.ts';
import { type Heard, heardIn } from './messages.ts';
import { channelOf } from './teller.ts';

export interface HearerOptions {
  readonly primary: Pick<Primary, 'connect'>;
  /** The id of this node, which ignores its own messages. */
  readonly node: string;
  readonly schema: string;
  readonly onHeard: (heard: Heard) => void;
  /** How often the quiet connection is tested; milliseconds. */
  readonly every?: number;
}

const EVERY = 5_000;

/** Pause between two attempts to reconnect, in milliseconds. */
const PAUSE = 250;

/**
 * A silent connection may be dead: a test unanswered this long breaks it, so a partition shows in seconds. In
 * milliseconds.
 */
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

  /** @throws whatever prevents it from listening */
  async start(): Promise<void> {
    await this.#listen();
    this.#timer = setInterval(() => void this.#ask(), this.#options.every).unref();
  }

  /** Tests whether the other end is there: if not, the session breaks at its own time limit. */
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

  /** What was sent meanwhile is lost, so once it listens again, the listener is told to read everything again. */
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
