/** A check-in as it waits on the disk: whom it is for, what it says, and when that was. */

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

/** One that was refused, and why. */
export interface RefusedCheckIn extends KeptCheckIn {
  reason: string;
}

/** Earlier programs read the first version alone, so that it is kept for what they understand. */
const FIRST_VERSION = 1;
const VERSION = 2;

export function encode(checkIn: KeptCheckIn, reason: string | null = null): string {
  const { base, token, name, server, keyFile, suffix, at, runId, message, exitStatus, output } = checkIn;
  const first = { base, token, suffix, runId, message, exitStatus };
  const isFirst =
    token !== null && suffix !== null && runId !== null && typeof exitStatus !== 'string' && name === null;
  const fields = {
    version: isFirst ? FIRST_VERSION : VERSION,
    at: new Date(at).toISOString(),
    ...first,
    ...(isFirst ? {} : { name, server, keyFile }),
    ...(reason === null ? {} : { reason }),
    output: output.toString('base64'),
  };
  return `${JSON.stringify(fields)}\n`;
}

/** Null for what is no such check-in, or one of a later version of this program. */
export function decode(text: string): RefusedCheckIn | null {
  const fields = objectIn(text);
  if (fields === null || (fields.version !== FIRST_VERSION && fields.version !== VERSION)) return null;
  const { base, token, suffix, at, runId, message, exitStatus, output, reason = '' } = fields;
  const { name = null, server = null, keyFile = null } = fields;
  const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(instant) || typeof output !== 'string' || typeof reason !== 'string') return null;
  if (![base, token, name, server, keyFile, runId, message].every(isTextOrNull)) return null;
  if (token === '' || (token === null && (name === null || name === ''))) return null;
  if (suffix !== null && !isSuffix(suffix)) return null;
  if (!isTextOrNull(exitStatus) && !Number.isInteger(exitStatus)) return null;
  return {
    base: base as string | null,
    token: token as string | null,
    name: name as string | null,
    server: server as string | null,
    keyFile: keyFile as string | null,
    suffix,
    at: instant,
    runId: runId as string | null,
    message: message as string | null,
    exitStatus: exitStatus as number | string | null,
    output: Buffer.from(output, 'base64'),
    reason,
  };
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isSuffix(value: unknown): value is Suffix {
  return typeof value === 'string' && (value === 'start' || value === 'fail' || /^\d{1,3}$/.test(value));
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

/** Whom it is for. Tokens are secrets: a message has so much of one that its owner knows it again. */
export function shownRecipient({ token, name }: Pick<Recipient, 'token' | 'name'>): string {
  return token === null ? (name ?? '') : shortToken(token);
}

export function shortToken(token: string): string {
  return token.length > 8 ? `${token.slice(0, 4)}...` : '...';
}
