/** A check-in before it is sent: whom it is for, what it says, and when that was. */

/** What follows the token in the check-in's address: its kind, or an exit status. */
export type Suffix = 'start' | 'fail' | `${number}`;

/** Whom a check-in is for: by its token, or by a name that the server is asked for when it is sent. */
export interface Recipient {
  /** What check-in addresses begin with; null if that was not known, and has to be found out before sending. */
  base: string | null;
  /** Null if only the name is known. */
  token: string | null;
  /** What was typed, if that may be a name. */
  name: string | null;
  /** The server to ask for the name; null if that was not known, or by an older program for the one in the settings. */
  server: string | null;
  /** The name of that server in `cli.yaml`, if it has one. */
  serverName?: string;
  /** The file with the key for asking; null for the key in the settings. */
  keyFile: string | null;
  /** The file that the settings named when the check-in was made, for when they do not know the server any more. */
  keyFileThen?: string;
  /** How to make the snitch if none has the name: the query of a check-in address. Absent if none is to be made. */
  make?: string;
}

export interface KeptCheckIn extends Recipient {
  /** Null for a check-in that says no more than its message and its status. */
  suffix: Suffix | null;
  /** When the job did this, in milliseconds since the epoch. */
  at: number;
  /** Pairs the start of a run with its end. */
  runId: string | null;
  message: string | null;
  /** The exit status, if the suffix does not have it. systemd has words for some. */
  exitStatus: number | string | null;
  /** The last of what the job printed. */
  output: Buffer;
  /** What the job reports, by name. The server says in the history which of them are not numbers. */
  values?: Readonly<Record<string, string>>;
}

/** Names the recipient in a message. Tokens are secrets, so just enough is shown for the owner to recognise one. */
export function shownRecipient({ token, name }: Pick<Recipient, 'token' | 'name'>): string {
  return token === null ? (name ?? '') : shortToken(token);
}

export function shortToken(token: string): string {
  return token.length > 8 ? `${token.slice(0, 4)}...` : '...';
}
