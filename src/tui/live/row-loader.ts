/**
 * Reads what the table shows in addition to the snitches (deadline, periods, check-ins), only for the rows on the
 * screen. This takes requests for each snitch, and a key may make 600 a minute. So they are made sparingly and in the
 * order of the screen, and most of that allowance is left to others who use the same key.
 */
import { ApiError, type Client } from '../../api/client.ts';
import { visibleEntries } from '../model/selection.ts';
import type { RowDetail } from '../model/state.ts';
import type { Store } from './store.ts';

/** How many requests may be made at once after a quiet time, and how many more each second. */
const BURST = 60;
const PER_SECOND = 4;

/** How many rows are read at the same time. */
const AT_ONCE = 4;

/** How long the screen must rest before its rows are read, so that scrolling costs nothing; milliseconds. */
const REST = 120;

/** How long nothing is read after a failure or a refusal, in milliseconds. */
const AFTER_FAILURE = 5_000;

/**
 * The least time between two reads of a row whose period is over, in milliseconds. This clock may be ahead of the
 * server's, which then still reports the old period.
 */
const BETWEEN_PERIODS = 10_000;

const CHECK_INS = 40;

export interface RowLoaderParts {
  client: Pick<Client, 'explain' | 'listCheckIns'>;
  store: Store;
  clock: () => number;
}

export class RowLoader {
  readonly #parts: RowLoaderParts;
  readonly #loading = new Set<string>();
  #allowance = BURST;
  #countedAt: number;
  #silentUntil = 0;
  #timer: NodeJS.Timeout | null = null;
  #unsubscribe = () => {};

  constructor(parts: RowLoaderParts) {
    this.#parts = parts;
    this.#countedAt = parts.clock();
  }

  start(): void {
    this.#unsubscribe = this.#parts.store.subscribe(() => this.#lookLater(REST));
    this.#lookLater(REST);
  }

  stop(): void {
    this.#unsubscribe();
    if (this.#timer) clearTimeout(this.#timer);
  }

  #lookLater(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, ms);
  }

  #look(): void {
    const state = this.#parts.store.get();
    if (state.screen.kind !== 'table' || state.link.state === 'lost') return;
    const now = this.#parts.clock();
    const earned = ((now - this.#countedAt) / 1_000) * PER_SECOND;
    this.#allowance = Math.min(BURST, this.#allowance + Math.max(0, earned));
    this.#countedAt = now;
    const wanted = visibleEntries(state).filter(({ token }) => {
      const row = state.rows.get(token);
      // When a period is over, only the server knows the next one.
      const isOver = row && row.period.end <= now && now - row.readAt > BETWEEN_PERIODS;
      return (!row || row.stale || isOver) && !this.#loading.has(token);
    });
    for (const { token } of wanted) {
      if (this.#loading.size >= AT_ONCE) return;
      const price = state.rows.has(token) ? 1 : 2;
      if (this.#allowance < price || now < this.#silentUntil) {
        this.#lookLater(1_000);
        return;
      }
      this.#allowance -= price;
      void this.#load(token);
    }
  }

  async #load(token: string): Promise<void> {
    const { client, store, clock } = this.#parts;
    this.#loading.add(token);
    const known = store.get().rows.get(token);
    const before = store.get().collection.entries.get(token);
    try {
      const [explanation, checkIns] = await Promise.all([
        client.explain(token),
        known ? known.checkIns : client.listCheckIns(token, { limit: CHECK_INS }),
      ]);
      const { rows, collection } = store.get();
      const detail: RowDetail = {
        deadlineAt: explanation.deadline ? Date.parse(explanation.deadline.at) : null,
        missingSince: explanation.missing_since ? Date.parse(explanation.missing_since) : null,
        timezone: explanation.timezone,
        period: { start: Date.parse(explanation.period.start), end: Date.parse(explanation.period.end) },
        checkIns: rows.get(token)?.checkIns ?? checkIns.map(({ at, outcome }) => ({ at, outcome })),
        more: known ? known.more : checkIns.length === CHECK_INS,
        readAt: clock(),
        stale: collection.entries.get(token) !== before,
      };
      store.dispatch({ kind: 'row', token, detail });
    } catch (error) {
      const asked = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1_000 : 0;
      this.#silentUntil = clock() + Math.max(asked, AFTER_FAILURE);
    } finally {
      this.#loading.delete(token);
      this.#lookLater(0);
    }
  }
}
