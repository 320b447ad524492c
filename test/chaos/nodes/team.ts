/** Several nodes on one database, as processes of the built program. Each start of a node gets a new address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { type DaemonProcess, startProcess } from '../../end-to-end/daemon-process.ts';
import { ownAddress } from './own-address.ts';

/** One run of one node: from its start until it was killed. Instants are milliseconds since the epoch. */
export interface Life {
  readonly place: number;
  readonly address: string;
  killedAt: number | null;
}

export interface TeamOptions {
  /** The address of the store for each place; there are at most as many nodes. */
  urls: readonly string[];
  env: Record<string, string>;
}

interface Place {
  url: string;
  dataDir: string;
  running: { process: DaemonProcess; life: Life } | null;
}

/** It needs no keys: the test changes everything through the store. */
const NO_KEYS = { adminKey: '', apiKey: '' };

/** How long a request waits for a node, in milliseconds. */
const PATIENCE = 25_000;

export class Team implements AsyncDisposable {
  readonly lives: Life[] = [];
  readonly #places: Place[];
  readonly #env: Record<string, string>;

  constructor({ urls, env }: TeamOptions) {
    this.#places = urls.map((url) => ({ url, dataDir: newDataDir(), running: null }));
    this.#env = env;
  }

  /** The places that have a node. */
  get up(): number[] {
    return [...this.#places.keys()].filter((place) => this.#places[place]?.running);
  }

  async start(...places: readonly number[]): Promise<void> {
    await Promise.all(places.map((place) => this.#start(place)));
  }

  async #start(place: number): Promise<void> {
    const at = this.#at(place);
    if (at.running) return;
    const life: Life = { place, address: `127.1.${place}.${this.lives.length + 1}`, killedAt: null };
    this.lives.push(life);
    const process = await startProcess({
      dataDir: at.dataDir,
      env: { ...this.#env, SNITCH_STORE_URL: at.url },
      nodeOptions: ownAddress(life.address),
      keysOf: NO_KEYS,
    });
    at.running = { process, life };
  }

  async kill(...places: readonly number[]): Promise<void> {
    await Promise.all(
      places.map(async (place) => {
        const at = this.#at(place);
        const { running } = at;
        if (!running) return;
        at.running = null;
        await running.process.end('SIGKILL');
        running.life.killedAt = Date.now();
      }),
    );
  }

  /** Stops a node in order. */
  async stop(place: number): Promise<void> {
    const at = this.#at(place);
    const { running } = at;
    at.running = null;
    await running?.process.end('SIGTERM');
  }

  signal(place: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.node(place).pid, signal);
  }

  node(place: number): DaemonProcess {
    const { running } = this.#at(place);
    if (!running) throw new Error(`node ${place} does not run`);
    return running.process;
  }

  /** The current run. */
  life(place: number): Life {
    const { running } = this.#at(place);
    if (!running) throw new Error(`node ${place} does not run`);
    return running.life;
  }

  /** The status of the answer, or null if there was none. */
  async checkIn(place: number, path: string): Promise<number | null> {
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const answer = await fetch(`${this.node(place).url}/c/${path}`, { signal });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return null;
    }
  }

  async ready(place: number): Promise<boolean> {
    const signal = AbortSignal.timeout(PATIENCE);
    const answer = await fetch(`${this.node(place).url}/readyz`, { signal }).catch(() => null);
    return answer?.status === 200;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#places.map(({ running }) => running?.process.end('SIGKILL')));
    // A process that is killed while it writes may leave a file behind for a moment.
    await sleep(10);
    for (const { dataDir } of this.#places) removeDataDir(dataDir);
  }

  #at(place: number): Place {
    const at = this.#places[place];
    if (!at) throw new Error(`there is no place ${place}`);
    return at;
  }
}
