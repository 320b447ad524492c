/** Times that do not count against jobs: planned silences, and times when the service itself was away. */
import type { BlindWindow } from '../../../core/blind-window.ts';
import { covers, merged, type Silence, silentUntil, windowsOf } from '../../../core/silences/silence.ts';
import type { ShownSnitch } from '../../../store/status-pages.ts';
import { DAY } from '../../../text/durations.ts';

/** How far back times when snitches were not watched are read: the longest strip has 60 months. */
export const REACH = 60 * 31 * DAY;

/** How far back recurring silences are considered. */
const RECURRING_REACH = 31 * DAY;
const MOST_WINDOWS = 2_000;

interface Covered {
  windows: readonly BlindWindow[];
  until: number | null;
}

export class Quiet {
  readonly #timezone: string;
  readonly now: number;
  readonly #silences: readonly Silence[];
  readonly away: readonly BlindWindow[];
  readonly #windows: readonly BlindWindow[][];
  /** Keyed by which silences cover a snitch. */
  readonly #known = new Map<string, Covered>();

  constructor(
    { silences, away }: { silences: readonly Silence[]; away: BlindWindow[] },
    timezone: string,
    now: number,
  ) {
    this.#timezone = timezone;
    this.now = now;
    this.#silences = silences;
    this.away = merged(away);
    this.#windows = silences.map((silence) => {
      const back = silence.time.kind === 'once' ? REACH : RECURRING_REACH;
      const windows = windowsOf(silence, { start: now - back, end: now + 1 }, timezone);
      return windows.slice(-MOST_WINDOWS);
    });
  }

  /** Planned silences over the snitch, together with the times when the service was away. */
  over(snitch: Pick<ShownSnitch, 'token' | 'tags'>): readonly BlindWindow[] {
    return this.#of(snitch)?.windows ?? this.away;
  }

  /** Until when its current planned work goes on; null if there is none. */
  untilFor(snitch: Pick<ShownSnitch, 'token' | 'tags'>): number | null {
    return this.#of(snitch)?.until ?? null;
  }

  /** The combined effect of the silences over it; null if none covers it. */
  #of(snitch: Pick<ShownSnitch, 'token' | 'tags'>): Covered | null {
    const covering = [...this.#silences.keys()].filter((index) => this.#covers(index, snitch));
    if (covering.length === 0) return null;
    const key = covering.join();
    const known = this.#known.get(key);
    if (known) return known;
    const silences = covering.flatMap((index) => this.#silences[index] ?? []);
    const covered = {
      windows: merged([...this.away, ...this.#planned(covering)]),
      until: silentUntil(silences, this.now, this.#timezone),
    };
    this.#known.set(key, covered);
    return covered;
  }

  /** When the quiet time ends that `at` lies in; null if it lies in none. */
  endsAfter(snitch: Pick<ShownSnitch, 'token' | 'tags'>, at: number): number | null {
    return this.over(snitch).find(({ start, end }) => start <= at && at < end)?.end ?? null;
  }

  #covers(index: number, snitch: Pick<ShownSnitch, 'token' | 'tags'>): boolean {
    const silence = this.#silences[index];
    return silence !== undefined && covers(silence, snitch);
  }

  #planned(covering: readonly number[]): BlindWindow[] {
    return covering.flatMap((index) => this.#windows[index] ?? []);
  }
}
