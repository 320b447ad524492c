/** What the page needs to know about the links that lead to it, provided by whoever has the key. */

export interface AlarmLinks {
  /** Whether this server signed the link of the alert. Says nothing about how long ago. */
  isGenuine(alert: { id: string; at: number }, signature: string): boolean;
  /** A seal that the form of a page carries, so it is known later when that page was made. */
  sealOf(alertId: string, madeAt: number): string;
  /** When the page whose form carries `seal` was made, in milliseconds; null if this server did not make it. */
  madeAt(alertId: string, seal: string): number | null;
}

/**
 * The two parts of `<id>.<signature>`; null for anything that does not look like a link, so nothing is looked up for
 * it.
 */
export function partsOf(link: string): { id: string; signature: string } | null {
  const [, id, signature] = /^(alert_[a-z2-7]{16})\.([\w-]{43})$/.exec(link) ?? [];
  return id === undefined || signature === undefined ? null : { id, signature };
}
