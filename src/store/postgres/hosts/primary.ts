/**
 * Finds the host that accepts writes, and finds it again after a failover. Having been chosen once does not make a host
 * trusted: an old primary that comes back looks like the current one, except for its timeline.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseHost, describeHost } from '../../../core/database/postgres-url.ts';
import { newlySeen, refusalOf, STANDBY } from './facts.ts';
import { ConnectionFault, connectionFault } from './faults.ts';
import { lendsByTransaction } from './pooler.ts';
import type { SeenMemory } from './seen-file.ts';
import { type OpenSession, openSession, type Session, type SessionOptions } from './session.ts';

/**
 * How long the others still have to answer once one host was found, in case two accept writes at once. Milliseconds.
 */
const OTHERS_MAY_TAKE = 250;

/** The longest that an old primary which nobody stopped can keep accepting this node's writes. Milliseconds. */
const LOOK_EVERY_MS = 5_000;

export type SessionWishes = Pick<SessionOptions, 'pipeline' | 'purpose'> & { answerWithinMs?: number };

/** Called with a warning about something that works but is probably not what was meant. */
export type Warn = (words: string) => void;

export class Primary {
  readonly #options: SessionOptions;
  readonly #memory: SeenMemory;
  readonly #warn: Warn;
  readonly #warned = new Set<string>();
  readonly #sessions = new Set<Session>();
  readonly #triedPoolers = new Set<DatabaseHost>();
  #known: DatabaseHost | null = null;

  /** @param warn called once for each warning */
  constructor(options: SessionOptions, memory: SeenMemory, warn: Warn) {
    this.#options = options;
    this.#memory = memory;
    this.#warn = warn;
  }

  /** The host that was found last, until it fails. */
  get known(): DatabaseHost | null {
    return this.#known;
  }

  /** The next connection asks all hosts again. */
  forget(host: DatabaseHost): void {
    if (this.#known === host) this.#known = null;
  }

  /**
   * A session with the primary.
   *
   * @throws ConnectionFault that says for each host why it was not chosen; lasting if no host can become the primary
   * unaided
   */
  async connect(wishes: SessionWishes = {}): Promise<Session> {
    const options = { ...this.#options, ...wishes };
    const known = this.#known;
    if (known) {
      try {
        return await this.#take(await this.#ask(known, options));
      } catch {
        this.forget(known);
      }
    }
    return this.#take(await this.#search(options));
  }

  /**
   * Asks the other hosts whether one of them was promoted although the known one is still alive. If so, all sessions
   * with the old primary are closed, and their users connect again. It never fails.
   */
  async lookAround(): Promise<void> {
    const others = this.#options.address.hosts.filter((host) => host !== this.#known);
    const options = { ...this.#options, purpose: 'look-around' };
    await Promise.all(
      others.map((host) =>
        this.#ask(host, options).then(
          (session) => this.#noticeLate(session),
          () => undefined,
        ),
      ),
    );
  }

  /** Looks around regularly until the returned function is called. With a single host there is nowhere to look. */
  keepLooking(everyMs = LOOK_EVERY_MS): () => void {
    if (this.#options.address.hosts.length < 2) return () => undefined;
    const timer = setInterval(() => void this.lookAround(), everyMs).unref();
    return () => clearInterval(timer);
  }

  /** Another host that accepts writes: it is the primary if it was promoted later. */
  async #noticeLate(session: OpenSession): Promise<void> {
    const seen = this.#memory.get();
    if (seen && (session.facts.timeline ?? 0) > seen.timeline) {
      this.#known = session.host;
      await this.#see(session);
    }
    await session.end();
  }

  async #see({ facts }: Session): Promise<void> {
    const seen = newlySeen(facts, this.#memory.get());
    if (!seen) return;
    for (const session of this.#sessions) {
      const { timeline } = session.facts;
      if (timeline !== null && timeline < seen.timeline)
        session.destroy(new ConnectionFault(`${describeHost(session.host)} is an old primary now`));
    }
    await this.#memory.keep(seen);
  }

  async #take(session: OpenSession): Promise<Session> {
    try {
      await this.#refusePooling(session);
      // Before anything is written there: if a crash lost this, the old primary would be accepted again.
      await this.#see(session);
      await session.prepare();
    } catch (error) {
      session.destroy();
      throw connectionFault(describeHost(session.host), error);
    }
    this.#known = session.host;
    this.#warnOf(session);
    this.#sessions.add(session);
    session.onBroken(() => {
      this.#sessions.delete(session);
      this.forget(session.host);
    });
    return session;
  }

  /** Checked once for each host, because it takes a second connection. */
  async #refusePooling(session: OpenSession): Promise<void> {
    const { host, isPooled } = session;
    if (!isPooled || this.#triedPoolers.has(host)) return;
    if (await lendsByTransaction(session, () => openSession(host, { ...this.#options, pipeline: false })))
      throw new ConnectionFault(
        `${describeHost(host)} is a connection pooler that lends connections by transaction, and locks, prepared statements and notifications need one that stays: set pool_mode = session there, or name the server itself in store.url`,
        { isLasting: true },
      );
    this.#triedPoolers.add(host);
  }

  #warnOf({ host, isPooled, facts }: Session): void {
    const place = describeHost(host);
    const words = [
      ...(isPooled
        ? [
            `${place} is a connection pooler: it must go on pooling by session (pool_mode = session), because locks, prepared statements and notifications belong to one`,
          ]
        : []),
      ...(facts.timeline === null && this.#options.address.hosts.length > 1
        ? [
            `${place} does not tell its timeline: an old primary that comes back would not be known (grant execute on function pg_walfile_name, pg_current_wal_lsn and pg_control_system)`,
          ]
        : []),
    ];
    for (const one of words.filter((each) => !this.#warned.has(each))) {
      this.#warned.add(one);
      this.#warn(one);
    }
  }

  /** @throws ConnectionFault that says why this host cannot be used */
  async #ask(host: DatabaseHost, options: SessionOptions): Promise<OpenSession> {
    const session = await openSession(host, options);
    const refusal = refusalOf(session.facts, this.#memory.get(), this.#memory.file);
    if (!refusal) return session;
    void session.end();
    throw new ConnectionFault(`${describeHost(host)} ${refusal.words}`, refusal);
  }

  /** Asks all hosts at once. If two accept writes, the one that was promoted last is the primary. */
  async #search(options: SessionOptions): Promise<OpenSession> {
    const found: OpenSession[] = [];
    const faults: ConnectionFault[] = [];
    let isChosen = false;
    const asked = options.address.hosts.map((host) =>
      this.#ask(host, options).then(
        (session) => {
          if (isChosen) void this.#noticeLate(session);
          else found.push(session);
        },
        (error: unknown) => faults.push(connectionFault(describeHost(host), error)),
      ),
    );
    const all = Promise.all(asked);
    await Promise.race([all, this.#first(asked, found)]);
    isChosen = true;
    const [chosen, ...others] = found.sort(
      (one, other) => (other.facts.timeline ?? 0) - (one.facts.timeline ?? 0),
    );
    for (const session of others) void session.end();
    if (chosen) return chosen;
    throw noneTakesWrites(faults);
  }

  /** Resolves once one host was found and the others have had a while to answer too. */
  async #first(asked: readonly Promise<unknown>[], found: readonly OpenSession[]): Promise<void> {
    await new Promise<void>((resolve) => {
      for (const one of asked) void one.then(() => found.length > 0 && resolve());
    });
    const newest = Math.max(...found.map(({ facts }) => facts.timeline ?? 0));
    const seen = this.#memory.get();
    // A host that was promoted since then can only be the primary.
    if (seen === null || newest <= seen.timeline) await sleep(OTHERS_MAY_TAKE, undefined, { ref: false });
  }
}

function noneTakesWrites(faults: readonly ConnectionFault[]): ConnectionFault {
  const [only] = faults;
  const areStandbys = faults.every(({ message }) => message.endsWith(` ${STANDBY}`));
  const advice = areStandbys ? '; promote one, or add the host of the primary to store.url' : '';
  if (only && faults.length === 1)
    return advice === '' ? only : new ConnectionFault(`${only.message}${advice}`, only);
  const isLasting = faults.every((fault) => fault.isLasting);
  return new ConnectionFault(
    `no host takes writes: ${faults.map(({ message }) => message).join('; ')}${advice}`,
    // The cause is the first fault that says more than that its host is no primary.
    { isLasting, cause: faults.find(({ cause, told }) => cause !== undefined || told !== null) },
  );
}
