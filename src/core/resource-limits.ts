/** How much there may be of what is made by hand (`decisions: Limits on resources`). What is there already stays. */
import { Invalid } from './errors.ts';

/** Of webhooks and channels together. */
export const MOST_WEBHOOKS = 100;

/** Of a case, and of the server itself. */
export const MOST_API_KEYS = 100;

export const MOST_MEMBERS = 200;

/** @throws Invalid where one more of `attribute` would be too many */
export function assertRoom(
  attribute: 'webhooks' | 'channels' | 'api_keys' | 'silences' | 'badges',
  count: number,
  most: number,
): void {
  if (count < most) return;
  throw new Invalid([{ attribute, message: `are too many: ${most} is the most, so delete one first` }]);
}
