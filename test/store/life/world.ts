/** A store in which a random life takes place, and the text that is written down of it. */
import { createHash } from 'node:crypto';
import { SnitchError } from '../../../src/core/errors.ts';
import { Dice } from '../../random.ts';
import type { Store } from '../acting.ts';
import { type Opened, sweep } from '../fixture.ts';
import { Answers } from './answers.ts';
import { Names } from './names.ts';
import { SeededIds } from './seeded-ids.ts';
import { Tables } from './tables.ts';

type Asynchronous = (...given: never[]) => Promise<unknown>;

/** Whatever the store can be asked, or told to do. */
export type Asked = { [Name in keyof Store]: Store[Name] extends Asynchronous ? Name : never }[keyof Store];

export type Answer<Name extends Asked> = Awaited<ReturnType<Store[Name]>>;

export interface Beginning {
  seed: number;
  /** Milliseconds since the epoch. */
  begin: number;
  /** Tables of whose changes only a digest is written down: another life is about them. */
  digested?: readonly string[];
}

export class World implements Disposable {
  readonly lines: string[] = [];
  readonly names = new Names();
  readonly dice: Dice;
  readonly tables: Tables;
  readonly #opened: Opened;
  readonly #digested: readonly string[];
  readonly #ids: SeededIds;
  readonly #answers = new Answers(this.names);

  constructor(opened: Opened, { seed, begin, digested = [] }: Beginning) {
    this.#opened = opened;
    this.#digested = digested;
    this.#ids = new SeededIds(seed);
    this.dice = new Dice(seed);
    this.tables = new Tables(opened, this.names);
    opened.clock.now = begin;
  }

  get store(): Store {
    return this.#opened.store;
  }

  get now(): number {
    return this.#opened.clock.now;
  }

  /** @param ms negative if somebody sets the clock back */
  pass(ms: number): void {
    this.#opened.clock.now += ms;
  }

  /** Asks the store, and writes down what it answers; null also if it refuses. */
  ask<Name extends Asked>(name: Name, ...given: Parameters<Store[Name]>): Promise<Answer<Name> | null> {
    return this.askFor(null, name, ...given);
  }

  /** As `ask`, for something new that is known by its name from then on. */
  async askFor<Name extends Asked>(
    thing: string | null,
    name: Name,
    ...given: Parameters<Store[Name]>
  ): Promise<Answer<Name> | null> {
    const asked = this.#answers.asked(given, this.now);
    this.#ids.restart();
    const method = this.store[name] as (...values: unknown[]) => Promise<Answer<Name>>;
    try {
      const answer = arranged(name, await method(...given));
      if (thing !== null) this.#name(answer, thing);
      const said = answer === undefined ? '' : ` = ${this.#answers.inOneLine(answer, this.now)}`;
      this.say(`${name}(${asked})${said}`);
      return answer;
    } catch (error) {
      if (!(error instanceof SnitchError)) throw error;
      this.say(`${name}(${asked}) is refused: ${error.message}`);
      return null;
    }
  }

  /** Writes down what was found out in another way than by `ask`. */
  tell(what: string, found: unknown): void {
    this.say(`${what} = ${this.#answers.inOneLine(found, this.now)}`);
  }

  #name(answer: unknown, name: string): void {
    const { id, token } = answer as { id?: string; token?: string };
    this.names.give(token ?? id ?? '', name);
  }

  say(line: string): void {
    this.lines.push(this.names.in(line));
  }

  /** Writes down the time, and what an act consists of below it. */
  begin(act: string): void {
    this.lines.push(`${new Date(this.now).toISOString()} ${act}`);
  }

  /** Writes down all rows that have changed since the last time, or a digest of them for some of the tables. */
  async sayRows(): Promise<void> {
    for (const [table, lines] of await this.tables.changes(this.now)) {
      if (!this.#digested.includes(table)) this.lines.push(...lines.map((line) => `    ${line}`));
      else if (lines.length > 0) this.lines.push(`    ${table}: ${lines.length} changes, ${digestOf(lines)}`);
    }
  }

  /** Applies what is due, as the daemon does each second. */
  async sweep(): Promise<void> {
    const { store, now } = this;
    while (await store.rescheduleSlice(now));
    while (await store.relieveSlice(now));
    for (let more = true; more; ) {
      const ends = await store.endSilencesSlice(now);
      for (const { token, error } of ends.failures) this.say(`the silence of ${token} fails: ${error}`);
      more = ends.more;
    }
    const changed = await sweep(store, now, this.dice.oneOf([1, 3, 100]));
    if (changed > 0) this.say(`the sweep changes ${changed}`);
  }

  [Symbol.dispose](): void {
    this.#ids[Symbol.dispose]();
    this.tables[Symbol.dispose]();
  }
}

/** The answer in an order of its own, where the store promises none. */
function arranged<Name extends Asked>(name: Name, answer: Answer<Name>): Answer<Name>;
function arranged(name: Asked, answer: unknown): unknown {
  switch (name) {
    case 'claimDeliveries':
      return inTurns(answer as Answer<'claimDeliveries'>);
    case 'listPaces':
      return (answer as Answer<'listPaces'>).toSorted((one, other) => (one.target < other.target ? -1 : 1));
    case 'listRoutes':
      return new Map(
        [...(answer as Answer<'listRoutes'>)].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      );
    case 'census': {
      const { snitches, ...others } = answer as Answer<'census'>;
      return { ...others, snitches: Object.fromEntries(Object.entries(snitches).toSorted()) };
    }
    default:
      return answer;
  }
}

/** The targets take turns, but in which order the deliveries to one of them are sent is not said anywhere. */
function inTurns(claimed: Answer<'claimDeliveries'>): Answer<'claimDeliveries'> {
  const turns = Map.groupBy(claimed, ({ target }) => target);
  return [...turns.values()].flatMap((own) => own.toSorted((one, other) => one.id - other.id));
}

function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12);
}
