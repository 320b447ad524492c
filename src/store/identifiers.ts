/** Tokens, keys and ids: random, and nothing can be learned from one about another. */
import { createHash, randomBytes } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 26 lower-case base-32 characters: 130 random bits. */
export function newToken(): string {
  let token = '';
  for (const byte of randomBytes(26)) token += BASE32[byte & 31];
  return token;
}

/** An id that says what it names: `prefix_` and 80 random bits. */
export function newId(prefix: 'case' | 'key' | 'hook' | 'chan' | 'alert' | 'sil' | 'badge'): string {
  return `${prefix}_${newToken().slice(0, 16)}`;
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
