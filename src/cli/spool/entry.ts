/** The file that keeps a check-in on the disk. */
import type { KeptCheckIn, Suffix } from '../sending/check-in.ts';

/** A check-in that was refused, and why. */
export interface RefusedCheckIn extends KeptCheckIn {
  reason: string;
}

/** Earlier programs read only the first version, so it is still written for what they understand. */
const FIRST_VERSION = 1;
const VERSION = 2;
/** Only its name says which server it is for: an earlier program would send it to another one. */
const BY_SERVER_NAME = 3;

export function encode(checkIn: KeptCheckIn, reason: string | null = null): string {
  const { base, token, name, server, keyFile, make, suffix, at, runId, message, exitStatus, output } =
    checkIn;
  const { values, serverName, keyFileThen } = checkIn;
  const first = { base, token, suffix, runId, message, exitStatus };
  const isFirst =
    token !== null && suffix !== null && runId !== null && typeof exitStatus !== 'string' && name === null;
  const fields = {
    version: serverName !== undefined && server === null ? BY_SERVER_NAME : isFirst ? FIRST_VERSION : VERSION,
    at: new Date(at).toISOString(),
    ...first,
    ...(isFirst ? {} : { name, keyFile }),
    // Earlier programs wrote no server for a token, but can read one.
    ...(isFirst && server === null ? {} : { server }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(keyFileThen === undefined ? {} : { keyFileThen }),
    // Older programs ignore this, and only look for the name.
    ...(make === undefined ? {} : { make }),
    ...(reason === null ? {} : { reason }),
    // Earlier programs send the check-in without them.
    ...(values === undefined ? {} : { values }),
    output: output.toString('base64'),
  };
  return `${JSON.stringify(fields)}\n`;
}

/** Null if the text is not a check-in, or is one from a later version of this program. */
export function decode(text: string): RefusedCheckIn | null {
  const fields = objectIn(text);
  if (fields === null || ![FIRST_VERSION, VERSION, BY_SERVER_NAME].some((known) => known === fields.version))
    return null;
  const { base, token, suffix, at, runId, message, exitStatus, output, reason = '' } = fields;
  const { name = null, server = null, keyFile = null, make, values, serverName, keyFileThen } = fields;
  const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(instant) || typeof output !== 'string' || typeof reason !== 'string') return null;
  if (![base, token, name, server, keyFile, runId, message].every(isTextOrNull)) return null;
  if (![make, serverName, keyFileThen].every((one) => one === undefined || typeof one === 'string'))
    return null;
  if (token === '' || (token === null && (name === null || name === ''))) return null;
  if (suffix !== null && !isSuffix(suffix)) return null;
  if (!isTextOrNull(exitStatus) && !Number.isInteger(exitStatus)) return null;
  return {
    base: base as string | null,
    token: token as string | null,
    name: name as string | null,
    server: server as string | null,
    keyFile: keyFile as string | null,
    ...(typeof make === 'string' ? { make } : {}),
    ...(typeof serverName === 'string' ? { serverName } : {}),
    ...(typeof keyFileThen === 'string' ? { keyFileThen } : {}),
    suffix,
    at: instant,
    runId: runId as string | null,
    message: message as string | null,
    exitStatus: exitStatus as number | string | null,
    output: Buffer.from(output, 'base64'),
    ...(isTexts(values) ? { values } : {}),
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

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => typeof one === 'string');
}
