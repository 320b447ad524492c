/** The signs and colours of the command line and the dashboard, for terminals with and without Unicode. */
/** The status of a snitch, by its name in the API. */
type Status = 'pending' | 'healthy' | 'failed' | 'errored' | 'paused';

export interface Signs {
  /** One column wide in every terminal, and different without colour. */
  status: Record<Status, string>;
  ellipsis: string;
  /** Beside the header of the column that the rows are sorted by. */
  ascending: string;
  /** Before what one may do about something. */
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

/** An empty environment, as cron has it, is one without Unicode. */
export function signsFor({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): Signs {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '') ? UNICODE_SIGNS : ASCII_SIGNS;
}
