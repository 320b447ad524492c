/** The signs and colours of the command line and the dashboard, for terminals with and without Unicode. */

/** The status of a snitch, as the API names it. */
type Status = 'pending' | 'healthy' | 'failed' | 'errored' | 'paused';

export interface Signs {
  /** Each is one column wide in every terminal, and they differ even without colour. */
  status: Record<Status, string>;
  ellipsis: string;
  /** Marks the header of the column by which the rows are sorted. */
  ascending: string;
  /** Marks advice. */
  remedy: string;
}

export const UNICODE_SIGNS: Signs = {
  status: { failed: '✗', errored: '▲', paused: '‖', pending: '○', healthy: '✓' },
  ellipsis: '…',
  ascending: '↑',
  remedy: '→',
};

export const ASCII_SIGNS: Signs = {
  status: { failed: 'X', errored: '!', paused: '=', pending: 'o', healthy: '+' },
  ellipsis: '~',
  ascending: '^',
  remedy: '>',
};

export const STATUS_COLORS = {
  failed: 'red',
  errored: 'yellow',
  paused: 'magenta',
  pending: 'cyan',
  healthy: 'green',
} as const satisfies Record<Status, string>;

/** An environment without a locale, such as cron's, means a terminal without Unicode. */
export function signsFor({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): Signs {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '') ? UNICODE_SIGNS : ASCII_SIGNS;
}
