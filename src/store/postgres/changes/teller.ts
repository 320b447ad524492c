/** Tells the other nodes what this one has committed, gathered for a moment so that it costs check-ins nothing. */
import pg from 'pg';
import type { Change } from '../../change.ts';
import type { PooledClient } from '../hosts/pool.ts';
import { textsOf } from './messages.ts';

export interface TellerOptions {
  readonly pool: { connect(): Promise<Pick<PooledClient, 'query' | 'release'>> };
  /** The id of this node. */
  readonly node: string;
  /** Notifications reach a whole database, in which each schema may hold another store. */
  readonly schema: string;
  /** Milliseconds. */
  readonly gatherFor?: number;
}

const GATHER_FOR = 100;

/** The most changes kept while the database does not answer: beyond that, the others read everything again. */
const MOST_KEPT = 10_000;

export function channelOf(schema: string): string {
  return `snitch:${schema}`;
}

export class ChangeTeller {
  readonly #options: Required<TellerOptions>;
  #gathered: Change[] = [];
  #isIncomplete = false;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: TellerOptions) {
    this.#options = { gatherFor: GATHER_FOR, ...options };
  }

  /**
   * Call it with what was committed. The others hear of it soon or, if sending fails, later that they missed something.
   */
  tell(changes: readonly Change[]): void {
    if (changes.length === 0 || this.#isStopped) return;
    if (this.#gathered.length + changes.length > MOST_KEPT) this.#lose();
    else this.#gathered.push(...changes);
    this.#wait();
  }

  /** Sends what is gathered, and stops. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#sending;
    if (this.#gathered.length > 0 || this.#isIncomplete) await this.#send().catch(() => undefined);
  }

  #lose(): void {
    this.#gathered = [];
    this.#isIncomplete = true;
  }

  #wait(): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#sending = this.#send().then(
        () => this.#goOn(),
        () => {
          this.#lose();
          this.#goOn();
        },
      );
    }, this.#options.gatherFor).unref();
  }

  #goOn(): void {
    this.#timer = null;
    if (this.#gathered.length > 0 || this.#isIncomplete) this.#wait();
  }

  async #send(): Promise<void> {
    const { pool, node, schema } = this.#options;
    const texts = textsOf(node, this.#gathered, this.#isIncomplete);
    this.#gathered = [];
    const client = await pool.connect();
    let isSent = false;
    try {
      // Sent as one text, this is one round trip and one transaction. It need not wait for the disk, because nobody
      // needs it after a crash: listeners that reconnect read everything again.
      const values = texts.map(literal).join(', ');
      await client.query(
        `BEGIN; SET LOCAL synchronous_commit = off;
         SELECT pg_notify(${pg.escapeLiteral(channelOf(schema))}, text) FROM unnest(ARRAY[${values}]) AS text; COMMIT`,
      );
      isSent = true;
      this.#isIncomplete = false;
    } finally {
      client.release(!isSent);
    }
  }
}

/** Texts are long, and few contain anything that must be escaped. */
function literal(text: string): string {
  return /['\\]/.test(text) ? pg.escapeLiteral(text) : `'${text}'`;
}
