/** Which snitches of an answer are silenced. That is not stored in their rows: it is looked up when they are shown. */
import type { WireSilenced } from '../../api/wire-kept-back.ts';
import { isAwaited, type ListedSnitch, type SilencedBy, type SnitchState } from '../../core/snitch.ts';
import type { SilencedSnitch } from '../../store/silences.ts';
import type { Store } from '../../store/store.ts';
import { isoTime } from '../../text/iso-time.ts';

/** The fields of a shown snitch that a silence changes or depends on. */
interface Silenceable {
  token: string;
  tags: string[];
  state: Pick<SnitchState, 'status' | 'dueAt'>;
}

/** The snitches with the silences that cover them, and with deadlines after those. */
export async function withSilences<Shown extends Silenceable>(
  store: Pick<Store, 'silencedAmong'>,
  caseId: string,
  snitches: readonly Shown[],
  now: number,
): Promise<readonly (Shown & { silenced?: SilencedBy })[]> {
  const candidates = snitches.map(({ token, tags, state }) => ({
    token,
    tags,
    dueAt: isAwaited(state) ? state.dueAt : null,
  }));
  const found = await store.silencedAmong(caseId, candidates, now);
  if (!found || found.size === 0) return snitches;
  return snitches.map((snitch) => {
    const over = found.get(snitch.token);
    if (!over) return snitch;
    const state = isAwaited(snitch.state) ? { ...snitch.state, dueAt: over.dueAt } : snitch.state;
    return over.silence ? { ...snitch, state, silenced: shownSilence(over) } : { ...snitch, state };
  });
}

export function shownSilence({ silence, until }: SilencedSnitch): SilencedBy {
  const { id, by, note } = silence;
  return { id, until, by, note };
}

/** The same for one snitch. */
export async function withSilence<Shown extends ListedSnitch>(
  store: Pick<Store, 'silencedAmong'>,
  caseId: string,
  snitch: Shown,
  now: number,
): Promise<Shown> {
  const [shown = snitch] = await withSilences(store, caseId, [snitch], now);
  return shown;
}

export function wireSilenced(silenced: SilencedBy | undefined): WireSilenced | null {
  if (!silenced) return null;
  const { id, until, by, note } = silenced;
  return { id, until: isoTime(until), by, note };
}
