/** What a check-in is before it is sent: whom it is for, what it says, and when that was. */

/** What follows the token in the check-in's address: its kind, or an exit status. */
export type Suffix = 'start' | 'fail' | `${number}`;

/** Whom a check-in is for: by its token, or by a name that the server is asked for when it is sent. */
export interface Recipient {
  /** What check-in addresses begin with; null where it could not be found out, and is to be when it is sent. */
  base: string | null;
  /** Null where only the name is known. */
  token: string | null;
  /** What was typed, where that may be a name. */
  name: string | null;
  /** The server to ask for the name; null for the one that the settings name. */
  server: string | null;
  /** The file with the key to ask with; null for what the settings have. */
  keyFile: string | null;
}

export interface KeptCheckIn extends Recipient {
  /** Null for a check-in that says no more than its message and its status. */
  suffix: Suffix | null;
  /** When the job did this, in milliseconds since the epoch. */
  at: number;
  /** Pairs a start with its end. */
  runId: string | null;
  message: string | null;
  /** The exit status, where the suffix does not tell it. Systemd has words for some. */
  exitStatus: number | string | null;
  /** The last of what the job printed. */
  output: Buffer;
}

/** Whom it is for. Tokens are secrets: a message shows just enough of one for its owner to recognise it. */
export function shownRecipient({ token, name }: Pick<Recipient, 'token' | 'name'>): string {
  return token === null ? (name ?? '') : shortToken(token);
}

export function shortToken(token: string): string {
  return token.length > 8 ? `${token.slice(0, 4)}...` : '...';
}
