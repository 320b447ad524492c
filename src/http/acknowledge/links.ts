/** What the page needs to know of the links that lead to it; whoever has the key knows it. */

export interface AlarmLinks {
  /** Whether this server signed the link of the alert. Says nothing about how long ago. */
  isGenuine(alert: { id: string; at: number }, signature: string): boolean;
  /** What the form of a page carries, so that it is known later when that page was made. */
  sealOf(alertId: string, madeAt: number): string;
  /** When the page was made whose form carries `seal`, in milliseconds; null where this server did not make it. */
  madeAt(alertId: string, seal: string): number | null;
}

/** The two parts of `<id>.<signature>`; null for what no link looks like, so that nothing is looked up for it. */
export function partsOf(link: string): { id: string; signature: string } | null {
  const [, id, signature] = /^(alert_[a-z2-7]{16})\.([\w-]{43})$/.exec(link) ?? [];
  return id === undefined || signature === undefined ? null : { id, signature };
}
