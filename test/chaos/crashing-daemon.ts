/** A daemon that is killed now and then, and calls that are repeated until it answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { hostClock } from '../end-to-end/host-clock.ts';
import { setDatabaseClock } from '../store/postgres/database-clock.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';

/** How many calls are under way at once if many are made. */
const AT_ONCE = 32;

const PAGE = 1_000;

export class CrashingDaemon {
  readonly #dataDir = newDataDir();
  readonly #env: Record<string, string>;
  #process: DaemonProcess | null = null;
  /** How far its clock is ahead of the real one, in milliseconds. */
  #ahead = 0;

  constructor(env: Record<string, string> = {}) {
    this.#env = env;
  }

  /** Changes with each start. */
  get url(): string {
    return this.#running.url;
  }

  async start(): Promise<void> {
    if (ON_POSTGRES) await setDatabaseClock(this.#dataDir, this.#ahead);
    const nodeOptions = this.#ahead === 0 ? [] : hostClock({ ahead: this.#ahead, since: 0 });
    this.#process = await startProcess({ dataDir: this.#dataDir, env: this.#env, nodeOptions });
  }

  /** @param downFor milliseconds by which the clock of its host advances meanwhile, as if it had been down that long */
  async killAndRestart(downFor = 0): Promise<void> {
    await this.#process?.end('SIGKILL');
    // Whatever it sent before it died has arrived by then, and is not mistaken for something that the next one sends.
    if (downFor > 0) await sleep(50);
    this.#ahead += downFor;
    await this.start();
  }

  /** On the clock of its host, in milliseconds. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  async dispose(): Promise<void> {
    await this.#process?.end('SIGKILL');
    removeDataDir(this.#dataDir);
  }

  /** @returns the JSON of a successful answer */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.#running.call(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  async createSnitches(count: number): Promise<string[]> {
    return inParallel(Array.from({ length: count }), async (_, index) => {
      const wanted = { name: `job ${index}`, interval: 'daily' };
      return (await this.call<WireSnitch>('POST', '/v1/snitches', wanted)).token;
    });
  }

  /** Reports an error, again and again until the daemon has answered that it is stored. */
  reportError(token: string, giveUp: AbortSignal): Promise<void> {
    return this.#report(`${token}?s=1`, giveUp);
  }

  /** Checks in healthy, in the same way. */
  reportHealthy(token: string, giveUp: AbortSignal): Promise<void> {
    return this.#report(token, giveUp);
  }

  async #report(path: string, giveUp: AbortSignal): Promise<void> {
    await this.insist(async () => {
      const answer = await fetch(`${this.#running.url}/c/${path}`, { signal: giveUp });
      await answer.arrayBuffer();
      return answer.status === 202;
    }, giveUp);
  }

  /**
   * Repeats a call, also while the daemon is down, until it returns true.
   *
   * @throws Error if it has not by the time `giveUp` ends the test
   */
  async insist(call: () => Promise<boolean>, giveUp: AbortSignal): Promise<void> {
    let [tries, asked, last] = [0, 0, 'nothing'];
    for (; !giveUp.aborted; tries += 1) {
      asked = performance.now();
      try {
        if (await call()) return;
        last = 'a refusal';
      } catch (error) {
        // It was killed, and the next one is starting.
        last = error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error);
      }
      await sleep(50);
    }
    const waited = Math.round(performance.now() - asked);
    throw new Error(`insisted in vain ${tries} times; the last one gave ${last} after ${waited} ms`);
  }

  /** Retries a delivery by hand; one that was delivered in the meantime needs none. */
  async retry(id: string): Promise<void> {
    const { status } = await this.#running.call('POST', `/v1/deliveries/${id}/retry`);
    if (status !== 200 && status !== 422) throw new Error(`the retry was answered ${status}`);
  }

  /** All rows of the outbox, page by page. */
  async deliveries(state = ''): Promise<WireDelivery[]> {
    const all: WireDelivery[] = [];
    let before = '';
    for (;;) {
      const page = await this.call<WireDelivery[]>(
        'GET',
        `/v1/deliveries?limit=${PAGE}${state && `&state=${state}`}${before}`,
      );
      all.push(...page);
      if (page.length < PAGE) return all;
      before = `&before=${page.at(-1)?.id}`;
    }
  }

  get #running(): DaemonProcess {
    if (!this.#process) throw new Error('the daemon was not started');
    return this.#process;
  }
}

export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as Item, index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
