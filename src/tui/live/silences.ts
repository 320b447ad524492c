/** Reads the silences of the case again and again: now and then, and whenever the stream says that they changed. */
import type { Client } from '../../api/client.ts';
import { SECOND } from '../../text/durations.ts';
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

  /** If it is reading already, it reads once more behind that. */
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
