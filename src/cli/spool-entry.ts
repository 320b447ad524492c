/** A check-in as it waits on the disk: what it says, and when that was. */

/** What follows the token in the check-in's address: its kind, or an exit status. */
export type Suffix = 'start' | 'fail' | `${number}`;

export interface KeptCheckIn {
  /** What check-in addresses begin with; null where it could not be found out, and is to be when it is sent. */
  base: string | null;
  token: string;
  suffix: Suffix;
  /** When the job did this, in milliseconds since the epoch. */
  at: number;
  /** Pairs a start with its end. */
  runId: string;
  message: string | null;
  /** The exit status, where the suffix does not tell it. */
  exitStatus: number | null;
  /** The last of what the job printed. */
  output: Buffer;
}

const VERSION = 1;

export function encode({ at, output, ...rest }: KeptCheckIn): string {
  const fields = {
    version: VERSION,
    at: new Date(at).toISOString(),
    ...rest,
    output: output.toString('base64'),
  };
  return `${JSON.stringify(fields)}\n`;
}

/** Null for what is no such check-in, or one of a later version of this program. */
export function decode(text: string): KeptCheckIn | null {
  const fields = objectIn(text);
  if (fields === null || fields.version !== VERSION) return null;
  const { base, token, suffix, at, runId, message, exitStatus, output } = fields;
  const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(instant) || typeof token !== 'string' || token === '') return null;
  if (!isSuffix(suffix) || typeof runId !== 'string' || typeof output !== 'string') return null;
  if (!isTextOrNull(base) || !isTextOrNull(message)) return null;
  if (exitStatus !== null && !Number.isInteger(exitStatus)) return null;
  return {
    base,
    token,
    suffix,
    at: instant,
    runId,
    message,
    exitStatus: exitStatus as number | null,
    output: Buffer.from(output, 'base64'),
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

/** Tokens are secrets: a message has so much of one that its owner knows it again. */
export function shortToken(token: string): string {
  return token.length > 8 ? `${token.slice(0, 4)}…` : '…';
}
