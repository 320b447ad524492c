/** Says in words what a snitch needs, and why its alert is held. */
import { needOf } from '../needs/needs.ts';
import type { Hold } from '../snitch.ts';

/** What is known of what a snitch needs. */
export interface KnownNeeds {
  needs: readonly string[];
  hold: Hold | null;
  /** Names by token. */
  names: ReadonlyMap<string, string>;
}

export const NO_NEEDS: KnownNeeds = { needs: [], hold: null, names: new Map() };

export function needsReasons({ needs, names }: KnownNeeds): string[] {
  if (needs.length === 0) return [];
  const words = needs.map((text) => {
    const need = needOf(text);
    return 'tag' in need ? `whatever has the tag ${need.tag}` : (names.get(need.token) ?? need.token);
  });
  return [
    `It needs ${listInWords(words)}: while something of that is down, nobody is told that this is missing.`,
  ];
}

/** When an alert that is held will be told. */
export function holdReason({ by, since, until }: Hold, local: (at: number) => string): string {
  const held = `Its alert is held since ${local(since)}, and nobody was told of it`;
  if (until !== null) {
    return `${held}. Nothing that it needs is known to be down now: it is told at ${local(until)} if it is still silent then.`;
  }
  const what = by?.name ?? 'what it needs';
  return `${held}, because ${what} is down: it is told when ${what} has been well for one period of this snitch and this is still silent.`;
}

function listInWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
