/** The most there may be of what people create (`decisions: Limits on resources`). What exists already stays. */
import { Invalid } from './errors.ts';

/** Webhooks and channels together. */
export const MOST_WEBHOOKS = 100;

/** For each case, and for the server itself. */
export const MOST_API_KEYS = 100;

export const MOST_MEMBERS = 200;

/** @throws Invalid if one more of `attribute` would be too many */
export function assertRoom(
  attribute: 'webhooks' | 'channels' | 'api_keys' | 'silences' | 'badges',
  count: number,
  most: number,
): void {
  if (count < most) return;
  throw new Invalid([{ attribute, message: `are too many: ${most} is the most, so delete one first` }]);
}
