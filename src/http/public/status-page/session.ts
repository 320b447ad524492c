/**
 * Who has given the password of a page. A cookie says so, signed with a key of the server, for that page and its
 * current password alone: a new password ends them all. Nothing about it is stored.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StatusPage } from '../../../core/status-page/page.ts';
import { DAY, SECOND } from '../../../text/durations.ts';

const LASTS = 7 * DAY;

export const COOKIE = 'snitch_page';

/** How many right passwords are recognised without their slow hash; the password itself is never kept. */
const REMEMBERED = 1_000;

type Closed = Pick<StatusPage, 'id' | 'passwordHash'>;

export class Sessions {
  readonly #keyOf: () => string | null;
  /** If the server has no key that it can store, cookies end with the process. */
  readonly #ownKey = randomBytes(32).toString('base64');
  readonly #shown = new Set<string>();

  constructor(keyOf: () => string | null) {
    this.#keyOf = keyOf;
  }

  /** The value of the cookie. @param now milliseconds since the epoch */
  open(page: Closed, now: number): string {
    const end = now + LASTS;
    return `${end}.${this.#sign('session', page, String(end))}`;
  }

  isOpen(page: Closed, cookie: string, now: number): boolean {
    const [, end, signature] = /^(\d{1,15})\.([\w-]{43})$/.exec(cookie) ?? [];
    if (end === undefined || signature === undefined || Number(end) <= now) return false;
    return isSame(this.#sign('session', page, end), signature);
  }

  /** Whether this password has already been found right. */
  knows(page: Closed, password: string): boolean {
    return this.#shown.has(this.#sign('password', page, password));
  }

  remember(page: Closed, password: string): void {
    if (this.#shown.size >= REMEMBERED) this.#shown.clear();
    this.#shown.add(this.#sign('password', page, password));
  }

  #sign(kind: string, { id, passwordHash }: Closed, text: string): string {
    const key = this.#keyOf() ?? this.#ownKey;
    const version = createHash('sha256')
      .update(passwordHash ?? '')
      .digest('base64');
    return createHmac('sha256', key).update(['page', kind, id, version, text].join('\n')).digest('base64url');
  }
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The values of the cookie in a request: there can be several, for different paths. */
export function cookiesIn(header: string | undefined): string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const [name, value] = pair.trim().split('=', 2);
    return name === COOKIE && value !== undefined ? [value] : [];
  });
}

/**
 * One cookie for the page and its feed, and one for its JSON, whose path is not below that of the page.
 *
 * @param base where clients reach the server
 */
export function setCookies(value: string, slug: string, base: string): string[] {
  const { pathname, protocol } = new URL(base);
  const prefix = pathname.replace(/\/+$/, '');
  const secure = protocol === 'https:' ? '; Secure' : '';
  return [`${prefix}/s/${slug}`, `${prefix}/s/${slug}.json`].map(
    (path) => `${COOKIE}=${value}; Path=${path}; Max-Age=${LASTS / SECOND}; HttpOnly; SameSite=Lax${secure}`,
  );
}
