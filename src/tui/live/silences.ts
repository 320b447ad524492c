/** Keeps the silences of the case up to date: reads them now and then, and when the stream says that they changed. */
import type { Client } from '../../api/client.ts';
import { SECOND } from '../../text/durations.ts';
import { reasonOf } from './reason-of.ts';
import type { Store } from './store.ts';

/** In milliseconds. */
const READ_EVERY = 30 * SECOND;

export class SilenceReader {
  readonly #client: Pick<Client, 'listSilences'>;
  readonly #store: Pick<Store, 'dispatch'>;
  #timer: NodeJS.Timeout | null = null;
  #reading = false;
  #isAskedAgain = false;

  constructor({ client, store }: { client: Pick<Client, 'listSilences'>; store: Pick<Store, 'dispatch'> }) {
    this.#client = client;
    this.#store = store;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.read(), READ_EVERY);
    this.read();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** If a read is under way, reads once more after it. */
  read(): void {
    this.#isAskedAgain = this.#reading;
    if (this.#reading) return;
    this.#reading = true;
    this.#client
      .listSilences()
      .then(
        (silences) => this.#store.dispatch({ kind: 'silences', silences }),
        // The feed says what is wrong with the connection, and an older server has no silences.
        () => {},
      )
      .finally(() => {
        this.#reading = false;
        if (this.#isAskedAgain) this.read();
      });
  }
}

interface Parts {
  client: Pick<Client, 'createSilence' | 'deleteSilence'>;
  readSilences: () => void;
}

type Say = (text: string, tone: 'good' | 'bad') => void;

/** Makes one silence for all of the chosen snitches. @param name what the messages call them */
export async function silence(
  { client, readSilences }: Parts,
  { tokens, until }: { tokens: readonly string[]; until: string },
  name: string,
  say: Say,
): Promise<void> {
  await client.createSilence({ tokens, to: until }).then(
    () => say(`Silenced ${name}.`, 'good'),
    (error: Error) => say(`Not silenced ${name}: ${reasonOf(error)}`, 'bad'),
  );
  readSilences();
}

export async function endSilences(
  { client, readSilences }: Parts,
  ids: readonly string[],
  say: Say,
): Promise<void> {
  try {
    for (const id of ids) await client.deleteSilence(id);
    say(ids.length === 1 ? 'Ended the silence.' : `Ended ${ids.length} silences.`, 'good');
  } catch (error) {
    say(`Not ended: ${reasonOf(error as Error)}`, 'bad');
  }
  readSilences();
}
