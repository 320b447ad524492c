/** Says in words what a snitch needs, and why its alert is held. */
import { needOf } from '../needs/needs.ts';
import type { Hold } from '../snitch.ts';

/** What is known of what a snitch needs. */
export interface KnownNeeds {
  needs: readonly string[];
  hold: Hold | null;
  /** Which of those is down now, and until when, if it is silenced. */
  down: { name: string; silencedUntil: number | null } | null;
  /** Names by token. */
  names: ReadonlyMap<string, string>;
}

export const NO_NEEDS: KnownNeeds = { needs: [], hold: null, down: null, names: new Map() };

/**
 * @param awaited whether a check-in is awaited: only then there is a deadline that starts again
 * @param local an instant in words
 */
export function needsReasons(
  { needs, names, hold, down }: KnownNeeds,
  awaited: boolean,
  local: (at: number) => string,
): string[] {
  if (needs.length === 0) return [];
  const words = needs.map((text) => {
    const need = needOf(text);
    return 'tag' in need ? `whatever has the tag ${need.tag}` : (names.get(need.token) ?? need.token);
  });
  return [
    `It needs ${listInWords(words)}: while any of that is down or silenced, nobody is told that this is missing.`,
    ...(down && !hold
      ? [`${downInWords(down, local)}${awaited ? ': when that ends, its deadline starts again' : ''}.`]
      : []),
  ];
}

function downInWords(
  { name, silencedUntil }: NonNullable<KnownNeeds['down']>,
  local: (at: number) => string,
): string {
  return silencedUntil === null ? `${name} is down now` : `${name} is silenced until ${local(silencedUntil)}`;
}

/** When an alert that is held will be told. @param toldAt null if that cannot be foreseen */
export function holdReason(
  { by, since, until, isSilenced, isUnsure }: Hold,
  toldAt: number | null,
  local: (at: number) => string,
): string {
  const held = `Its alert has been held since ${local(since)}, and nobody was told of it`;
  const what = by?.name ?? 'what it needs';
  if (isUnsure && until !== null) {
    return `${held}: ${what} has not been heard from either since this was expected. By ${local(until)} it is known whether ${what} is down: if so, the alert stays held; if not, it is sent.`;
  }
  if (until !== null) {
    const when = toldAt === null ? '' : `: it is sent at ${local(toldAt)} if the snitch is still silent then`;
    return `${held}. Nothing that it needs is known to be down now${when}.`;
  }
  const [state, end] = isSilenced ? ['silenced', 'heard again'] : ['down', 'well'];
  return `${held}, because ${what} is ${state}: it is sent when ${what} has been ${end} for one period of this snitch and this is still silent.`;
}

function listInWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
