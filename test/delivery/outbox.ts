/** An outbox with real alerts in it: a store on disk, a case with targets, and snitches that report errors. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from '../../src/core/case.ts';
import type { Delivery } from '../../src/core/delivery.ts';
import type { Webhook } from '../../src/core/webhook.ts';
import { createDeliverer, type Deliverer, type DelivererOptions } from '../../src/delivery/deliverer.ts';
import type { Store } from '../store/acting.ts';
import { openEmptyStore } from '../store/acting.ts';

export interface LogLine {
  level: string;
  what: Record<string, unknown>;
  message: string;
}

export class Outbox {
  readonly store: Store;
  readonly lines: LogLine[] = [];
  owner!: Case;
  /** Added to the real time. */
  offset = 0;
  readonly directory = mkdtempSync(join(tmpdir(), 'snitch-delivery-'));
  readonly #senders: Pick<Deliverer, 'stop'>[] = [];
  #snitches = 0;

  constructor() {
    this.store = openEmptyStore({ dataDir: this.directory, clock: this.clock });
  }

  clock = (): number => Date.now() + this.offset;

  static async open(settings: Partial<Case> = {}): Promise<Outbox> {
    const outbox = new Outbox();
    outbox.owner = await outbox.createCase(settings);
    return outbox;
  }

  createCase(settings: Partial<Case> = {}): Promise<Case> {
    const { name = 'Operations', timezone = 'Europe/Berlin', members = [] } = settings;
    const rules = { reminders: 'off', errorNotices: true, maxSnitches: null, onHold: false } as const;
    return this.store.createCase({ name, timezone, members, ...rules }, this.clock());
  }

  target(url: string): Promise<Webhook> {
    return this.store.createWebhook(this.owner.id, url, this.clock());
  }

  /** Creates `count` snitches that report an error each: `count` alerts. */
  async raise(count: number, { owner = this.owner, names = [] as string[] } = {}): Promise<string[]> {
    const tokens = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        this.#snitches += 1;
        const name = names[index] ?? `job-${this.#snitches}`;
        const fields = {
          name,
          notes: '',
          tags: ['prod'],
          alertEmail: [],
          interval: 'daily',
          alertType: 'basic',
        } as const;
        const { token } = await this.store.createSnitch(
          owner.id,
          { ...fields, tags: ['prod'], alertEmail: [] },
          this.clock(),
        );
        return token;
      }),
    );
    await Promise.all(tokens.map((token) => this.checkIn(token, 'error')));
    return tokens;
  }

  async checkIn(token: string, outcome: 'healthy' | 'error'): Promise<void> {
    const nothing = { message: null, source: null, runId: null, output: null };
    const exitStatus = outcome === 'error' ? 1 : 0;
    const now = this.clock();
    await this.store.applyCheckIn({ token, now, at: now, outcome, exitStatus, ...nothing });
  }

  /** The options of every deliverer; the log goes to `lines`. */
  parts() {
    const log = (level: string) => (what: unknown, message?: string) => {
      const known =
        typeof what === 'string'
          ? { what: {}, message: what }
          : { what: what as LogLine['what'], message: message ?? '' };
      this.lines.push({ level, ...known });
    };
    const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
    return {
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      logger: logger as DelivererOptions['logger'],
    };
  }

  deliverer(options: Partial<DelivererOptions> = {}): Deliverer {
    const given = { smtp: null, webhooks: { allowPrivate: true }, version: '1.2.3' };
    const deliverer = createDeliverer({ ...this.parts(), ...given, ...options });
    return this.run(deliverer);
  }

  /** Starts a sender, which is stopped at the end of the test. */
  run<Sender extends Pick<Deliverer, 'start' | 'stop'>>(sender: Sender): Sender {
    this.#senders.push(sender);
    sender.start();
    return sender;
  }

  async deliveries(state: Delivery['state'] | null = null): Promise<Delivery[]> {
    const listed = await this.store.listDeliveries(this.owner.id, { state, limit: 100_000, before: null });
    return listed.reverse();
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
    await this.store.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
