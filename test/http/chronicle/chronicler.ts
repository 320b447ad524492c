/** Writes down what a case shows after each act: only what has changed, with names in place of ids. */
import { createHash } from 'node:crypto';
import type { WireAlert, WireDelivery, WireSnitch } from '../../../src/api/wire.ts';
import type { WireExplanation } from '../../../src/api/wire-explanation.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { ClaimedDelivery, Settlement } from '../../../src/core/delivery.ts';
import { alertLetter } from '../../../src/delivery/messages/alert-letter.ts';
import { inOneLine } from '../../kept-text.ts';
import { randomFrom } from '../../random.ts';
import { ok } from '../expect.ts';
import { type Fixture, HOUR, MINUTE, wholePass } from '../fixture.ts';
import { pagesOf } from './pages.ts';

/** What differs in each run, and says nothing. */
const LEFT_OUT = new Set(['href', 'check_in_url', 'created_at', 'type']);

/** Whatever may be an id. */
const ID = /[\w-]{6,}/g;

/** A job that is due every 15 minutes must not fill a day of silence. */
const MOST_STEPS = 4;

const CHANNELS = ['email', 'webhook', 'ntfy', 'gotify'] as const;

export class Chronicler {
  readonly lines: string[] = [];
  readonly #context: Fixture;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #shown = new Map<string, string>();
  readonly #pages = new Map<string, readonly string[]>();
  /** When each delivery that is not over is tried. */
  readonly #attempts = new Map<string, number>();
  readonly #reasons = new Map<string, readonly string[]>();
  #snitches: readonly WireSnitch[] = [];

  constructor(context: Fixture) {
    this.#context = context;
  }

  /** The next deadline of any snitch, in milliseconds since the epoch, or null. */
  get deadline(): number | null {
    return this.#next(this.#snitches.flatMap(({ deadline }) => (deadline ? [Date.parse(deadline)] : [])));
  }

  /** When the next delivery is tried. */
  get attempt(): number | null {
    return this.#next([...this.#attempts.values()]);
  }

  #next(instants: readonly number[]): number | null {
    const next = Math.min(...instants.filter((at) => at > this.#context.clock.now));
    return Number.isFinite(next) ? next : null;
  }

  /** Lets the time pass, with all that is due on the way. */
  async wait(until: number): Promise<void> {
    const { clock } = this.#context;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const next = Math.min(this.deadline ?? until, this.attempt ?? until);
      if (next >= until) break;
      clock.now = next;
      await this.write('time passes');
    }
    clock.now = until;
  }

  /** Sweeps, delivers, and writes down the act and all that followed. */
  async write(act: string): Promise<void> {
    const { clock } = this.#context;
    await this.#look();
    this.lines.push(`${new Date(clock.now).toISOString()} ${this.#named(act)}`);
    await wholePass(this.#context);
    await this.#deliver();
    await this.#look();
    await this.#tell();
  }

  /** Writes the lines of all pages that were not on them the last time. */
  async read(): Promise<void> {
    const { acme, rival } = this.#context;
    const tokens = this.#snitches.map(({ token }) => token);
    const others = ok<WireSnitch[]>(await rival.read.get('/v1/snitches'));
    for (const { token, name } of others) this.#names.set(token, name);
    const own = await pagesOf(acme.read, tokens);
    const theirs = await pagesOf(
      rival.read,
      others.map(({ token }) => token),
    );
    for (const [path, lines] of own) this.#readPage(path, lines);
    for (const [path, lines] of theirs) this.#readPage(`rival ${path}`, lines);
    this.#readPage(
      'rival /v1/snitches',
      others.map((one) => JSON.stringify(one)),
    );
  }

  #readPage(path: string, lines: readonly string[]): void {
    const before = this.#pages.get(path) ?? [];
    // Numbers that were used up by what was refused differ between the databases.
    const named = lines.map((line) => this.#named(line).replace(/"id":"\d+",/g, ''));
    const added = named.filter((line) => !before.includes(line));
    if (added.length > 0) this.#say(path);
    for (const line of added) this.#say(`  = ${line}`);
    this.#pages.set(path, named);
  }

  /** Sends what is due: most of it arrives, some is tried again, and some is refused. */
  async #deliver(): Promise<void> {
    const { store, clock } = this.#context;
    const request = {
      now: clock.now,
      leaseUntil: clock.now + HOUR,
      perTarget: 50,
      limit: 50,
      busy: [],
      after: '',
    };
    for (const channel of CHANNELS) {
      // What waits for another delivery to be settled is due after that.
      for (let more = true; more; ) {
        const all = await store.claimDeliveries({ ...request, channel });
        for (const claimed of all.sort((one, other) => orderOf(one).localeCompare(orderOf(other)))) {
          const settlement = this.#fate(claimed);
          if (channel === 'email' && claimed.case.name === 'Acme') this.#writeLetter(claimed);
          await store.settleDelivery(claimed.id, claimed.fence, settlement);
        }
        more = all.length > 0;
      }
    }
  }

  /** It depends on nothing but the delivery, so that a change elsewhere leaves the others as they are. */
  #fate({ attempt, channel, alert, case: { name } }: ClaimedDelivery): Settlement {
    const at = this.#context.clock.now;
    const chance = randomFrom(seedOf([name, alert.type, alert.snitch?.name, alert.at, channel, attempt]))();
    if (chance < 0.7)
      return { kind: 'delivered', at, ...(channel === 'ntfy' ? { told: { reference: 'r' } } : {}) };
    if (chance < 0.95 && attempt < 4) return { kind: 'retry', at: at + attempt * MINUTE, error: 'no answer' };
    return { kind: 'dead', error: 'refused', ...(channel === 'ntfy' ? { refusedAt: at } : {}) };
  }

  /** Of the letters about a snitch, what differs from the one before. */
  #writeLetter({ alert, case: owner, output }: ClaimedDelivery): void {
    if (this.#once(`letter ${alert.id}`)) return;
    const { subject, letter } = alertLetter(alert, owner, output ?? null);
    const fields = Object.fromEntries(letter.fields.map(({ label, value }) => [label, value]));
    const advice = letter.paragraphs.slice(1).join(' ');
    this.#changes(`letter ${alert.snitch?.token}`, `  [letter] ${subject}`, {
      ...fields,
      advice,
      lists: letter.lists,
    });
  }

  /** @returns whether it was asked about this before */
  #once(key: string): boolean {
    const isKnown = this.#shown.has(key);
    this.#shown.set(key, '');
    return isKnown;
  }

  /** Reads the snitches, and gives names to the new ones. */
  async #look(): Promise<void> {
    this.#snitches = ok<WireSnitch[]>(await this.#context.acme.read.get('/v1/snitches'));
    for (const { token, name } of this.#snitches) if (!this.#names.has(token)) this.#names.set(token, name);
  }

  async #tell(): Promise<void> {
    const { acme, store } = this.#context;
    for (const snitch of this.#snitches) {
      if (!this.#changes(snitch.token, this.#named(snitch.token), snitch)) continue;
      const { reasons } = ok<WireExplanation>(await acme.read.get(`/v1/snitches/${snitch.token}/explain`));
      this.#explain(snitch.token, reasons);
    }
    const alerts = await store.listAlerts(acme.id, null, { limit: 20, before: null });
    for (const { alert } of alerts.reverse()) this.#writeAlert(alert);
    const shown = ok<WireAlert[]>(await acme.read.get('/v1/alerts?limit=20')).reverse();
    for (const { deliveries } of shown) for (const one of deliveries) this.#writeDelivery(one);
    const silences = ok<{ id: string }[]>(await acme.read.get('/v1/silences'));
    for (const silence of silences) this.#changes(silence.id, 'a silence', silence);
  }

  /** Writes the sentences that were not among those of the last time. */
  #explain(token: string, reasons: readonly string[]): void {
    const before = this.#reasons.get(token) ?? [];
    for (const reason of reasons) if (!before.includes(reason)) this.#say(`  > ${reason}`);
    this.#reasons.set(token, reasons);
  }

  #writeAlert(alert: Alert): void {
    if (this.#once(`alert ${alert.id}`)) return;
    this.#numbered('alert', alert.id);
    const about = {
      type: alert.type,
      ...('details' in alert ? { ...alert.snitch, ...alert.details } : alert),
    };
    // What goes with the type is written even if it is as in the alert before.
    for (const field of ['status', 'previous_status', 'reason'])
      this.#shown.delete(`told ${alert.token} ${field}`);
    this.#changes(`told ${alert.token}`, `${this.#named(alert.id)} ${alert.type}`, about);
  }

  #writeDelivery({ id, alert, channel, target, ...rest }: WireDelivery): void {
    const { state, waits, attempts, last_error, next_attempt_at } = rest;
    if (next_attempt_at === null) this.#attempts.delete(id);
    else this.#attempts.set(id, Date.parse(next_attempt_at));
    const label = `${this.#named(alert)} to ${channel} ${target}`;
    this.#changes(`delivery ${id}`, label, { state, waits, attempts, last_error, next_attempt_at });
  }

  /** Writes the fields whose values are no longer those that were written before. @returns whether there are any */
  #changes(key: string, label: string, fields: object): boolean {
    const changed = Object.entries(fields).flatMap(([field, value]) => {
      const text = this.#named(inOneLine(value ?? null));
      const place = `${key} ${field}`;
      const before = this.#shown.get(place) ?? 'null';
      this.#shown.set(place, text);
      return LEFT_OUT.has(field) || text === before ? [] : [`${field} ${text}`];
    });
    if (changed.length > 0) this.#say(`${label}: ${changed.join(', ')}`);
    return changed.length > 0;
  }

  #say(line: string): void {
    this.lines.push(`  ${this.#named(line)}`);
  }

  #numbered(kind: string, id: string): string {
    const name = this.#names.get(id);
    if (name) return name;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#names.set(id, `${kind} ${count}`);
    return `${kind} ${count}`;
  }

  #named(text: string): string {
    const nameOf = (id: string) => {
      const [, kind] = /^([a-z]+)_[a-z0-9]{16}$/.exec(id) ?? [];
      // Which of two silences with the same end is shown is not said anywhere.
      if (kind === 'sil') return 'a silence';
      return this.#names.get(id) ?? (kind ? this.#numbered(kind, id) : id);
    };
    return text.replace(ID, nameOf).replaceAll('.000Z', 'Z');
  }
}

function seedOf(values: readonly unknown[]): number {
  return createHash('sha256').update(JSON.stringify(values)).digest().readUInt32LE();
}

/** Targets take turns by their ids, which differ in each run. */
function orderOf({ case: { name }, alert, target }: ClaimedDelivery): string {
  return [name, alert.at, alert.snitch?.name, target].join(' ');
}
