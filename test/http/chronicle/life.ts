/** What people, jobs and the hours do to a case: random, and the same for the same seed. */
import { randomFrom } from '../../random.ts';
import type { Answer } from '../client.ts';
import { type Fixture, HOUR, MINUTE } from '../fixture.ts';

const DAY = 24 * HOUR;

interface Known {
  token: string;
  name: string;
}

/** Names in the order in which snitches are made. */
const NAMES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const DUE: Record<string, unknown>[] = [
  { interval: 'hourly' },
  { interval: '15_minute' },
  { interval: 'daily', alert_type: 'smart' },
  { interval: '2_hour', grace: 900 },
  { interval: 'weekly' },
  { interval: 'monthly' },
  { schedule: { cron: '*/20 * * * *' } },
  { schedule: { cron: '30 2 * * *' }, timezone: 'America/New_York', grace: 600 },
  { schedule: { calendar: 'Mon..Fri 09:30' }, timezone: 'Europe/Berlin' },
  { schedule: { every: 5_400 }, grace: 0 },
];

const RULES: Record<string, unknown>[] = [
  {},
  {},
  { max_runtime: 600 },
  { min_runtime: 60, max_runtime: 3_600 },
  { failures_before_alert: 3 },
  { expect: [{ value: 'rows', min: 10, max: 1_000, required: true }] },
  { expect: [{ value: 'rows', of_usual: [0.5, 2] }], failures_before_alert: 2 },
];

/** Two runs of one job that overlap are told apart by these. */
const RUNS = ['6f1c9a52-95c3-4b8e-9b1f-0d6a3c1e7a01', '6f1c9a52-95c3-4b8e-9b1f-0d6a3c1e7a02'];

const CHECK_INS = [
  ...['', '', '', '', '?s=0', '?s=2&m=disk+full', '?s=1', '/fail', '/log?m=half+done'],
  ...[
    '/start',
    '/start',
    `/start?rid=${RUNS[0]}`,
    `/start?rid=${RUNS[1]}`,
    `?rid=${RUNS[0]}`,
    `?rid=${RUNS[1]}&s=3`,
  ],
  ...['?v.rows=5', '?v.rows=50&v.bytes=1e6', '?v.rows=51', '?v.rows=4000&m=too+many'],
];

const PAUSES = [1, 1_000, 10_000, MINUTE, 5 * MINUTE, 20 * MINUTE, HOUR, HOUR, 5 * HOUR, DAY];

const HOURS = {
  timezone: 'Europe/Berlin',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '08:00',
  to: '18:00',
};

export class Life {
  readonly snitches: Known[] = [];
  readonly #context: Fixture;
  readonly #random: () => number;
  readonly #ofRival: string[] = [];
  #made = 0;

  constructor(context: Fixture, seed: number) {
    this.#context = context;
    this.#random = randomFrom(seed);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #oneOf<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #someSnitch(): Known {
    return this.#oneOf(this.snitches);
  }

  /** Members, a webhook and two channels, and the first snitches. @returns what was done, a line for each */
  async begin(): Promise<string[]> {
    const { clock } = this.#context;
    const rules = {
      timezone: 'Europe/Berlin',
      reminders: 'period',
      members: ['ann@x.org', 'bob@x.org'],
    };
    const later = { kind: 'ntfy', name: 'pager', settings: { topic: 'ops' }, after: 1_800, tags: ['db'] };
    const office = {
      kind: 'gotify',
      name: 'office',
      settings: { server: 'https://g.org', token: 'x' },
    };
    const asked: [string, string, unknown][] = [
      ['PATCH', '/v1/case', rules],
      ['POST', '/v1/webhooks', { url: 'https://h.org/', notices: true }],
      ['POST', '/v1/channels', later],
      ['POST', '/v1/channels', { ...office, hours: HOURS, events: ['missing', 'reporting', 'blind'] }],
      ['PATCH', '/v1/channels/bob@x.org', { events: ['errored', 'reporting'] }],
      ['POST', '/v1/badges', { tag: 'db', label: 'databases' }],
      ['PUT', '/v1/status_page', { slug: 'acme', title: 'Acme', tags: ['*'], groups: ['db'] }],
    ];
    const said: string[] = [];
    for (const [method, path, json] of asked) {
      said.push(await this.#ask(method, path, json));
      // Channels are listed by their age.
      clock.now += 1_000;
    }
    for (let count = 0; count < 6; count += 1) said.push(await this.#make());
    return said;
  }

  /** Another case, with the same names and tags. */
  async beginRival(): Promise<void> {
    const { rival } = this.#context;
    await rival.write.patch('/v1/case', { members: ['rita@y.org'] });
    await rival.write.post('/v1/webhooks', { url: 'https://r.org/' });
    for (const [index, due] of DUE.slice(0, 4).entries()) {
      const json = { name: NAMES[index], ...due, tags: ['db'] };
      const { token } = (await rival.write.post('/v1/snitches', json)).json<Known>();
      this.#ofRival.push(token);
    }
    await rival.write.post('/v1/badges', { tag: 'db' });
  }

  async actOfRival(): Promise<void> {
    const path = `/v1/snitches/${this.#oneOf(this.#ofRival)}`;
    const { rival, nobody } = this.#context;
    if (this.#below(6) === 0) await rival.write.post(`${path}/pause`);
    else await nobody.post(`${path.replace('/v1/snitches', '/c')}${this.#oneOf(CHECK_INS)}`, undefined);
  }

  async #ask(method: string, path: string, json?: unknown): Promise<string> {
    const answer = await this.#context.acme.write.ask(method, path, json === undefined ? {} : { json });
    return `${method} ${path}${json === undefined ? '' : ` ${JSON.stringify(json)}`}: ${outcomeOf(answer)}`;
  }

  /** When the next act comes: often at the very millisecond at which something is due. */
  nextAt(deadline: number | null, attempt: number | null): number {
    const { now } = this.#context.clock;
    const choice = this.#below(16);
    const later = now + this.#oneOf(PAUSES);
    if (choice < 9)
      return Math.max(now, ((choice < 6 ? deadline : attempt) ?? later) - (choice === 4 ? 1 : 0));
    return later;
  }

  /** @returns one act in words, with how it was answered */
  act(): Promise<string> {
    const choice = this.#below(40);
    if (choice < 22) return this.#checkIn();
    if (choice < 24) return this.#change();
    if (choice < 26) return this.#pause();
    if (choice < 28) return this.#acknowledge();
    if (choice < 31) return this.#silence();
    if (choice < 32) return this.#endSilence();
    if (choice < 33) return this.#changeCase();
    if (choice < 34) return this.#retry();
    if (choice < 35) return this.#beBlind();
    if (choice < 36 && this.snitches.length > 4) return this.#remove();
    if (choice < 38 && this.snitches.length < 10) return this.#make();
    return this.#tag();
  }

  async #make(): Promise<string> {
    const name = `${NAMES[this.#made % NAMES.length]}${Math.floor(this.#made / NAMES.length) || ''}`;
    const due = DUE[this.#made % DUE.length];
    this.#made += 1;
    const needed = this.snitches.length > 0 && this.#below(3) === 0 ? [this.#someSnitch().token] : [];
    const needs = this.#below(5) === 0 ? ['tag:db'] : needed;
    const json = {
      name,
      ...due,
      ...this.#oneOf(RULES),
      ...(needs.length > 0 ? { needs } : {}),
      tags: this.#oneOf([[], ['db'], ['web'], ['db', 'web']]),
      ...(this.#below(6) === 0 ? { alert_email: ['own@x.org'], notes: 'see the runbook' } : {}),
    };
    const answer = await this.#context.acme.write.post('/v1/snitches', json);
    if (answer.status === 200) this.snitches.push({ token: answer.json<Known>().token, name });
    return `make ${JSON.stringify(json)}: ${outcomeOf(answer)}`;
  }

  async #checkIn(): Promise<string> {
    const { nobody, clock } = this.#context;
    const { token, name } = this.#someSnitch();
    const isLate = this.#below(20) === 0;
    const late = `?at=${new Date(clock.now - this.#oneOf([MINUTE, HOUR, DAY])).toISOString()}`;
    const address = isLate ? late : this.#oneOf(CHECK_INS);
    const { status } = await nobody.post(`/c/${token}${address}`, undefined);
    return `check in ${name} ${address}: ${status}`;
  }

  #change(): Promise<string> {
    const { token } = this.#someSnitch();
    const changes = this.#oneOf<Record<string, unknown>>([
      { name: `the ${this.#oneOf(['old', 'new', 'same'])} one` },
      { interval: this.#oneOf(['hourly', '30_minute', 'daily']) },
      { alert_type: this.#oneOf(['basic', 'smart']) },
      { grace: this.#oneOf([0, 60, null]) },
      { timezone: this.#oneOf(['Asia/Tokyo', null]) },
      { needs: this.#oneOf<string[]>([[], ['tag:web'], [this.#someSnitch().token]]) },
      this.#oneOf(RULES),
      this.#oneOf(DUE),
    ]);
    return this.#ask('PATCH', `/v1/snitches/${token}`, changes);
  }

  #tag(): Promise<string> {
    const { token } = this.#someSnitch();
    return this.#below(2) === 0
      ? this.#ask('POST', `/v1/snitches/${token}/tags`, [this.#oneOf(['db', 'web', 'night'])])
      : this.#ask('DELETE', `/v1/snitches/${token}/tags/${this.#oneOf(['db', 'web', 'night'])}`);
  }

  #pause(): Promise<string> {
    const { clock } = this.#context;
    const path = `/v1/snitches/${this.#someSnitch().token}`;
    if (this.#below(3) === 0) return this.#ask('POST', `${path}/unpause`);
    const time = new Date(clock.now + this.#oneOf([MINUTE, 2 * HOUR])).toISOString();
    return this.#ask('POST', `${path}/pause`, { until: this.#oneOf(['healthy', 'unpaused', time]) });
  }

  #acknowledge(): Promise<string> {
    const path = `/v1/snitches/${this.#someSnitch().token}/acknowledge`;
    return this.#below(4) === 0
      ? this.#ask('DELETE', path)
      : this.#ask('POST', path, { note: 'looking into it', by: 'ann' });
  }

  #silence(): Promise<string> {
    const what = this.#oneOf<Record<string, unknown>>([
      { tags: ['db'] },
      { tokens: [this.#someSnitch().token] },
      { all: true },
    ]);
    const when = this.#oneOf<Record<string, unknown>>([
      { duration: 1_800 },
      { duration: 3 * 3_600 },
      { schedule: { cron: '15 * * * *' }, duration: 1_200, timezone: 'Europe/Berlin' },
    ]);
    return this.#ask('POST', '/v1/silences', { ...what, ...when, note: 'maintenance' });
  }

  async #endSilence(): Promise<string> {
    const listed = (await this.#context.acme.read.get('/v1/silences')).json<{ id: string }[]>();
    const chosen = this.#oneOf(listed);
    return chosen ? this.#ask('DELETE', `/v1/silences/${chosen.id}`) : 'no silence to end';
  }

  #changeCase(): Promise<string> {
    return this.#ask(
      'PATCH',
      '/v1/case',
      this.#oneOf<Record<string, unknown>>([
        { reminders: this.#oneOf(['period', 'hourly', 'daily', 'off']) },
        { timezone: this.#oneOf(['Europe/Berlin', 'America/Havana', 'UTC']) },
      ]),
    );
  }

  async #retry(): Promise<string> {
    const dead = (await this.#context.acme.read.get('/v1/deliveries?state=dead')).json<{ id: number }[]>();
    const chosen = this.#oneOf(dead);
    return chosen ? this.#ask('POST', `/v1/deliveries/${chosen.id}/retry`) : 'no delivery to retry';
  }

  /** The daemon was away for a while. */
  async #beBlind(): Promise<string> {
    const { store, clock } = this.#context;
    const start = clock.now;
    clock.now += this.#oneOf([30_000, 10 * MINUTE, 2 * HOUR]);
    await store.openBlindWindow({ start, end: clock.now });
    while (await store.postponeSlice(clock.now));
    return `away since ${new Date(start).toISOString()}`;
  }

  async #remove(): Promise<string> {
    const [gone] = this.snitches.splice(this.#below(this.snitches.length), 1);
    return this.#ask('DELETE', `/v1/snitches/${gone?.token}`);
  }
}

function outcomeOf({ status, text }: Answer): string {
  return status >= 400 ? `${status} ${text}` : String(status);
}
