/** A case with its jobs in the database of the nodes, created through a store that does not belong to a node. */
import { parsePostgresUrl } from '../../../src/core/database/postgres-url.ts';
import { openStoreOnPostgres } from '../../../src/store/postgres/open.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { acting } from '../../store/acting.ts';
import { checkIn } from '../../store/fixture.ts';

const SETTINGS = {
  name: 'default',
  timezone: 'UTC',
  members: [],
  reminders: 'off',
  errorNotices: true,
  maxSnitches: null,
  onHold: false,
} as const;

const FIELDS = { notes: '', tags: [], alertEmail: [], interval: 'hourly', alertType: 'basic' } as const;

/** How many are created in one call. */
const AT_ONCE = 1_000;

export interface JobsOptions {
  /** The beginning of the names of the jobs. */
  name: string;
  /** When they checked in, in milliseconds since the epoch. */
  at?: number;
}

/** The database of the nodes. */
export interface Place {
  url: string;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

export class Jobs implements AsyncDisposable {
  readonly #place: Place;
  readonly #dataDir: string;
  readonly #store: Awaited<ReturnType<typeof open>>;
  readonly caseId: string;
  /** Alerts from before the case had any targets. */
  #untold: string[] = [];

  static async open(place: Place): Promise<Jobs> {
    const dataDir = newDataDir();
    const store = await open(place.url, dataDir);
    const { id } = await store.createCase({ ...SETTINGS, members: [] }, Date.now());
    return new Jobs(place, { dataDir, store, id });
  }

  private constructor(
    place: Place,
    { dataDir, store, id }: { dataDir: string; store: Awaited<ReturnType<typeof open>>; id: string },
  ) {
    this.#place = place;
    this.#dataDir = dataDir;
    this.#store = store;
    this.caseId = id;
  }

  query<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return this.#place.query<Row>(sql, values);
  }

  /** The tokens of jobs that have checked in. Targets that are added later get no alerts about first reports. */
  async make(count: number, { name, at = Date.now() }: JobsOptions): Promise<string[]> {
    const tokens: string[] = [];
    for (let made = 0; made < count; made += AT_ONCE) {
      const imported = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, index) => {
        return { ...FIELDS, tags: [], alertEmail: [], name: `${name}-${made + index}`, token: null };
      });
      const batch = { imported, owner: null };
      const snitches = await this.#store.importSnitches(this.caseId, batch, at);
      tokens.push(...snitches.map(({ token }) => token));
    }
    await Promise.all(tokens.map((token) => checkIn(this.#store, token, at)));
    return tokens;
  }

  async tell({ members = [], webhook }: { members?: string[]; webhook?: string }): Promise<void> {
    const now = Date.now();
    this.#untold = (await this.alerts()).map(({ id }) => id);
    await this.#store.updateCase(this.caseId, { members }, now);
    if (webhook !== undefined) await this.#store.createWebhook(this.caseId, webhook, now);
  }

  /** Makes all of them due at once, in that many milliseconds. */
  async makeDue(tokens: readonly string[], inMs = 0): Promise<number> {
    const at = Date.now() + inMs;
    await this.query(
      `UPDATE snitch_states SET due_at = $1, look_at = $1
       WHERE id IN (SELECT id FROM snitches WHERE token = ANY($2))`,
      at,
      tokens,
    );
    return at;
  }

  /** How many deliveries of the case are not finished. */
  async pending(): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM deliveries WHERE state = 'pending' AND case_id = $1`,
      this.caseId,
    );
    return row?.count ?? 0;
  }

  /** Every alert of the case that has a recipient: its id, its type, and the token of its snitch. */
  alerts(): Promise<{ id: string; type: string; token: string | null }[]> {
    const sql = 'SELECT id, type, token FROM alerts WHERE case_id = $1 AND NOT id = ANY($2)';
    return this.query(sql, this.caseId, this.#untold);
  }

  /** The messages of all check-ins in the log, with the number of times each occurs. */
  async logged(): Promise<Map<string, number>> {
    const rows = await this.query<{ message: string; count: number }>(
      `SELECT message, count(*)::int AS count FROM check_ins
       WHERE snitch_id IN (SELECT id FROM snitches WHERE case_id = $1) AND message IS NOT NULL GROUP BY message`,
      this.caseId,
    );
    return new Map(rows.map(({ message, count }) => [message, count]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
    removeDataDir(this.#dataDir);
  }
}

async function open(url: string, dataDir: string) {
  const store = await openStoreOnPostgres({
    address: parsePostgresUrl(url),
    dataDir,
    clock: Date.now,
    version: '0',
    warn: () => undefined,
  });
  return acting(store, Date.now);
}
