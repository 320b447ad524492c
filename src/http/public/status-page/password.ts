/**
 * Passwords of status pages. A slow, salted hash of each is stored. Making one takes a thread for a while, and
 * check-ins need the same threads for the disk: so only one is made at a time, and the queue is limited.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { RETRY_AFTER_S, TryLater } from '../../endpoint/errors.ts';

/** 2 to this power is the cost: 32 MiB, and some 60 ms of one thread. */
const COST = 15;
const BLOCK = 8;
const LENGTH = 32;
const MOST_WAITING = 20;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** @throws TryLater if too many are already waiting */
function hashed(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  if (waiting >= MOST_WAITING) {
    throw new TryLater('service_unavailable', 'Too many passwords are being tried at once.', RETRY_AFTER_S);
  }
  waiting += 1;
  const options = { N: 2 ** cost, r: BLOCK, p: 1, maxmem: 256 * 2 ** cost * BLOCK };
  const result = last.then(() => derived(password, salt, options));
  last = result.then(
    () => undefined,
    () => undefined,
  );
  return result.finally(() => {
    waiting -= 1;
  });
}

function derived(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(password.normalize('NFC'), salt, LENGTH, options, (error, key) => {
    if (error) reject(error);
    else resolve(key);
  });
  return promise;
}

/** @throws TryLater if too many are already waiting */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await hashed(password, salt, COST);
  return `scrypt$${COST}$${salt.toString('base64')}$${key.toString('base64')}`;
}

/** @throws TryLater if too many are already waiting */
export async function isPassword(given: string, kept: string): Promise<boolean> {
  const [, cost, salt, key] = /^scrypt\$(\d\d)\$([\w+/=]+)\$([\w+/=]+)$/.exec(kept) ?? [];
  if (cost === undefined || salt === undefined || key === undefined) return false;
  const expected = Buffer.from(key, 'base64');
  const found = await hashed(given, Buffer.from(salt, 'base64'), Number(cost));
  return expected.length === found.length && timingSafeEqual(expected, found);
}
