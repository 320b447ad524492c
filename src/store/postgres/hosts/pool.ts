/** A bounded number of sessions with the primary, lent to one caller at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { describeHost } from '../../../core/database/postgres-url.ts';
import { StoreUnavailable } from '../../../core/errors.ts';
import type { Connections } from '../../node.ts';
import { ConnectionFault, codeOf } from './faults.ts';
import type { Primary } from './primary.ts';
import type { Session } from './session.ts';

/** As in `pg`, it is handed back with `release`, with an error or `true` if it must not be used again. */
export type PooledClient = pg.Client & {
  release(broken?: Error | boolean): void;
  /** Identifies the server; it changes when another one is promoted. */
  readonly server: string;
};

export interface PoolOptions {
  readonly primary: Pick<Primary, 'connect'>;
  /** The most sessions. */
  readonly size: number;
  /** How long a caller waits for a session, and the longest outage that callers wait out; in milliseconds. */
  readonly waitMs: number;
  /** The most callers that wait; any more are refused at once. */
  readonly mostWaiting?: number;
}

interface Waiter {
  since: number;
  resolve(client: PooledClient): void;
  reject(error: unknown): void;
  timer: NodeJS.Timeout;
}

/** Pause between two attempts to connect, in milliseconds. */
const PAUSE_MS = 100;

/** The same if the server has no room for another connection; it logs each attempt. */
const CROWDED_PAUSE_MS = 1_000;

/** The caller does not want it used again, which says nothing about the host. */
const GIVEN_BACK = new ConnectionFault('the session was given back as broken');

export class SessionPool {
  readonly #options: Required<PoolOptions>;
  readonly #idle: Session[] = [];
  readonly #waiting = new Set<Waiter>();
  readonly #lent = new Set<Session>();
  #opening = 0;
  #waits = 0;
  #waitedMs = 0;
  #fault: { since: number; error: unknown } | null = null;
  /** Whether sessions were open at the last failure: then the outage had not begun by that time. */
  #wasServed = false;
  #isEnded = false;

  constructor(options: PoolOptions) {
    this.#options = { mostWaiting: 10_000, ...options };
  }

  /** Counts of the sessions and of the callers that wait or have waited. */
  get figures(): Connections {
    const { size } = this.#options;
    const counts = { inUse: this.#lent.size, idle: this.#idle.length, waiting: this.#waiting.size };
    return { ...counts, size, waits: this.#waits, waitedMs: this.#waitedMs };
  }

  /** Why no session can be opened, and since when (`performance.now()`); null while all is well. */
  get fault(): { since: number; error: unknown } | null {
    return this.#fault;
  }

  /** @throws StoreUnavailable if none is available in time, with the reason as its cause */
  connect(): Promise<PooledClient> {
    if (this.#isEnded)
      return Promise.reject(new StoreUnavailable(new ConnectionFault('the store is closed')));
    const session = this.#takeIdle();
    if (session) return Promise.resolve(this.#lend(session));
    if (this.#waiting.size >= this.#options.mostWaiting)
      return Promise.reject(this.#tooLate('too many calls wait'));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        since: performance.now(),
        resolve,
        reject,
        timer: setTimeout(() => this.#leave(waiter), this.#options.waitMs),
      };
      this.#waiting.add(waiter);
      this.#grow();
    });
  }

  /** Refuses waiting callers and ends all sessions; lent ones end when they are handed back, or after `waitMs`. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#refuseAll(new ConnectionFault('the store is closed'));
    const lent = [...this.#lent];
    const late = setTimeout(() => {
      for (const session of lent) session.destroy();
    }, this.#options.waitMs);
    const broken = lent.map((session) => new Promise<void>((done) => session.onBroken(() => done())));
    await Promise.all([...this.#idle.splice(0).map((session) => session.end()), ...broken]);
    clearTimeout(late);
  }

  #takeIdle(): Session | null {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) {
      if (!session.isBroken) return session;
    }
    return null;
  }

  #lend(session: Session): PooledClient {
    this.#lent.add(session);
    let isReleased = false;
    const release = (broken?: Error | boolean) => {
      if (isReleased) throw new Error('the session was given back already');
      isReleased = true;
      this.#lent.delete(session);
      this.#takeBack(session, broken);
    };
    const { cluster, timeline } = session.facts;
    const server = `${describeHost(session.host)} ${cluster} ${timeline}`;
    return Object.assign(session.client, { release, server });
  }

  #takeBack(session: Session, broken: Error | boolean | undefined): void {
    if (broken) session.destroy(GIVEN_BACK);
    if (!session.isBroken && !this.#isEnded) this.#serve(session);
    else if (!session.isBroken) void session.end();
    this.#grow();
  }

  #serve(session: Session): void {
    const [waiter] = this.#waiting;
    if (!waiter) {
      this.#idle.push(session);
      return;
    }
    this.#dismiss(waiter);
    waiter.resolve(this.#lend(session));
  }

  #dismiss(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    this.#waiting.delete(waiter);
    this.#waits += 1;
    this.#waitedMs += performance.now() - waiter.since;
  }

  #leave(waiter: Waiter): void {
    this.#dismiss(waiter);
    waiter.reject(this.#tooLate(`no connection was free within ${this.#options.waitMs / 1_000} s`));
  }

  #tooLate(words: string): StoreUnavailable {
    return new StoreUnavailable(this.#fault?.error ?? new ConnectionFault(words));
  }

  #refuseAll(error: unknown): void {
    for (const waiter of this.#waiting) {
      this.#dismiss(waiter);
      waiter.reject(new StoreUnavailable(error));
    }
  }

  /** Opens as many sessions as are needed and allowed; during an outage, one attempt at a time tries for all. */
  #grow(): void {
    while (this.#opening < this.#waiting.size && this.#isAllowed()) {
      this.#opening += 1;
      void this.#open();
    }
  }

  #isAllowed(): boolean {
    const open = this.#idle.length + this.#lent.size + this.#opening;
    const atOnce = this.#fault ? 1 : this.#options.size;
    return !this.#isEnded && open < this.#options.size && this.#opening < atOnce;
  }

  async #open(): Promise<void> {
    try {
      const session = await this.#options.primary.connect();
      this.#fault = null;
      this.#opening -= 1;
      this.#accept(session);
    } catch (error) {
      this.#failed(error);
      if (this.#waiting.size > 0) await sleep(isCrowded(error) ? CROWDED_PAUSE_MS : PAUSE_MS);
      this.#opening -= 1;
    }
    this.#grow();
  }

  #accept(session: Session): void {
    session.onBroken((error) => {
      const place = this.#idle.indexOf(session);
      if (place >= 0) this.#idle.splice(place, 1);
      if (error !== GIVEN_BACK) this.#suspect(session);
    });
    if (this.#isEnded) void session.end();
    else this.#serve(session);
  }

  /** After one session with a host broke, its idle ones are not worth a try: each could cost its whole time limit. */
  #suspect({ host }: Session): void {
    for (const session of this.#idle.filter((one) => one.host === host)) session.destroy();
  }

  /** Whether callers can be served by the sessions that are open, as when the server has no room for more. */
  get #isServed(): boolean {
    return this.#lent.size + this.#idle.length > 0;
  }

  /** A short outage, such as a failover, is waited out. In a longer or lasting one, all callers are refused at once. */
  #failed(error: unknown): void {
    const now = performance.now();
    this.#fault = { since: this.#wasServed ? now : (this.#fault?.since ?? now), error };
    this.#wasServed = this.#isServed;
    if (this.#wasServed) return;
    const isLasting = error instanceof ConnectionFault && error.isLasting;
    const isLong = performance.now() - this.#fault.since >= this.#options.waitMs;
    if (isLasting || isLong) this.#refuseAll(error);
  }
}

function isCrowded(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (codeOf(one) === '53300') return true;
  return false;
}
