/** A snitch as the table needs it: cleaned, measured and parsed once per change instead of once per frame. */
import type { WireSnitch } from '../../api/wire.ts';
import { intervalLength } from './periods.ts';
import { clean } from './text.ts';

export interface Entry {
  token: string;
  snitch: WireSnitch;
  /** Its name without control characters. */
  name: string;
  /** For filters and for sorting without regard to case. */
  nameKey: string;
  tags: readonly string[];
  tagKeys: readonly string[];
  /** Last healthy check-in, in milliseconds since the epoch, or null. */
  checkedInAt: number | null;
  createdAt: number;
  /** Usual length of its interval in milliseconds. */
  length: number;
}

export function entryOf(snitch: WireSnitch): Entry {
  const name = clean(snitch.name);
  const tags = snitch.tags.map(clean);
  return {
    token: snitch.token,
    snitch,
    name,
    nameKey: name.toLowerCase(),
    tags,
    tagKeys: tags.map((tag) => tag.toLowerCase()),
    checkedInAt: snitch.checked_in_at === null ? null : Date.parse(snitch.checked_in_at),
    createdAt: Date.parse(snitch.created_at),
    length: intervalLength(snitch.interval),
  };
}
