/** Tokens, keys and ids: random; one tells nothing about another, except for the order of alerts. */
import { createHash, randomBytes } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 26 lower-case base-32 characters: 130 random bits. */
export function newToken(): string {
  let token = '';
  for (const byte of randomBytes(26)) token += BASE32[byte & 31];
  return token;
}

/** An id that says what it identifies: `prefix_` and 80 random bits. */
export function newId(prefix: 'case' | 'key' | 'hook' | 'chan' | 'sil' | 'badge'): string {
  return `${prefix}_${newToken().slice(0, 16)}`;
}

/** The characters of `BASE32`, in the order in which databases sort them. */
const SORTED = [...BASE32].sort();

/** Alert ids that are made in one millisecond before further ones count as made in the next. */
const MOST_AT_ONCE = 1 << 10;

let lastMs = 0;
let madeInIt = 0;

/**
 * An id of the same form, greater than all that this process has made before: alerts decided in one millisecond are
 * listed in the order of the decisions. 45 bits of time, 10 of that order, and 25 random ones.
 */
export function newAlertId(): string {
  madeInIt += 1;
  if (Date.now() > lastMs || madeInIt === MOST_AT_ONCE) {
    lastMs = Math.max(lastMs + 1, Date.now());
    madeInIt = 0;
  }
  return `alert_${sorted(lastMs, 9)}${sorted(madeInIt, 2)}${newToken().slice(0, 5)}`;
}

/** The last digits of the number, to the base 32. */
function sorted(number: number, digits: number): string {
  let text = '';
  for (let rest = number; text.length < digits; rest = Math.floor(rest / 32))
    text = `${SORTED[rest % 32]}${text}`;
  return text;
}

/** `snk_` and 40 random base-62 characters. */
export function newApiKey(): string {
  let key = 'snk_';
  while (key.length < 44) {
    // 248 is the largest multiple of 62 that a byte holds: taking larger values would favour some characters.
    for (const byte of randomBytes(64)) if (byte < 248 && key.length < 44) key += BASE62[byte % 62];
  }
  return key;
}

/** A secret for the signatures of a webhook, in the form that receivers' libraries expect. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
