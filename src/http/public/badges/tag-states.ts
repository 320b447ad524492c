/** The states of the snitches with a tag, looked up again when one of them has changed. */
import { type BadgeState, isWorst, worstOf } from '../../../core/badges/badge.ts';
import { activeAt, covers } from '../../../core/silences/silence.ts';
import { type PublicState, publicState } from '../../../core/status-page/state.ts';
import type { Store } from '../../../store/store.ts';
import { isDue, type Made, onShownChange } from '../due.ts';

export type TagSource = Pick<Store, 'tagStatuses' | 'listShown' | 'quietTimes' | 'onChange'>;

export interface TagOfCase {
  caseId: string;
  tag: string;
  /** The case's. */
  timezone: string;
}

interface Kept extends Made {
  caseId: string;
  state: BadgeState | null;
  making: Promise<BadgeState> | null;
}

/** For how many tags this is remembered. */
const MOST_KEPT = 1_000;

const SLICE = 200;

export class TagStates {
  readonly #store: TagSource;
  readonly #clock: () => number;
  readonly #monotonic: () => number;
  readonly #kept = new Map<string, Kept>();

  /** @param monotonic in milliseconds */
  constructor(store: TagSource, clock: () => number, monotonic = () => performance.now()) {
    this.#store = store;
    this.#clock = clock;
    this.#monotonic = monotonic;
    onShownChange(store, (caseId) => {
      for (const kept of this.#kept.values())
        if (caseId === null || kept.caseId === caseId) kept.isOld = true;
    });
  }

  async of(tag: TagOfCase): Promise<BadgeState> {
    const kept = this.#entry(tag);
    if (kept.state !== null && !isDue(kept, this.#monotonic())) return kept.state;
    kept.making ??= this.#look(kept, tag).finally(() => {
      kept.making = null;
    });
    return kept.making;
  }

  #entry({ caseId, tag }: TagOfCase): Kept {
    const key = JSON.stringify([caseId, tag]);
    const kept = this.#kept.get(key) ?? {
      caseId,
      begunAt: 0,
      tookMs: 0,
      isOld: true,
      state: null,
      making: null,
    };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }

  async #look(kept: Kept, tag: TagOfCase): Promise<BadgeState> {
    kept.begunAt = this.#monotonic();
    kept.isOld = false;
    try {
      kept.state = worstOf(await this.#statesOf(tag));
      kept.tookMs = this.#monotonic() - kept.begunAt;
      return kept.state;
    } catch (error) {
      kept.isOld = true;
      throw error;
    }
  }

  async #statesOf({ caseId, tag, timezone }: TagOfCase): Promise<Set<PublicState>> {
    const now = this.#clock();
    const { silences } = await this.#store.quietTimes(caseId, now, now);
    const held = activeAt(silences, now, timezone);
    const states = new Set<PublicState>();
    let after: number | null = 0;
    while (after !== null) {
      const slice: Slice = await (held.length === 0
        ? this.#statuses(caseId, tag, after)
        : this.#listed(caseId, tag, after, (snitch) => held.some(({ silence }) => covers(silence, snitch))));
      for (const state of slice.states) states.add(state);
      after = [...states].some(isWorst) ? null : slice.next;
      // Lets check-ins have their turn in between.
      if (after !== null) await new Promise((resolve) => void setImmediate(resolve));
    }
    return states;
  }

  async #statuses(caseId: string, tag: string, after: number): Promise<Slice> {
    const { statuses, next } = await this.#store.tagStatuses(caseId, tag, after);
    return { states: [...statuses].map((status) => publicState(status, false)), next };
  }

  async #listed(
    caseId: string,
    tag: string,
    after: number,
    isSilenced: (snitch: { token: string; tags: readonly string[] }) => boolean,
  ): Promise<Slice> {
    const { snitches, next } = await this.#store.listShown(caseId, { tag, after, limit: SLICE });
    return { states: snitches.map((snitch) => publicState(snitch.status, isSilenced(snitch))), next };
  }
}

interface Slice {
  states: PublicState[];
  next: number | null;
}
