/**
 * The pages as they are sent. Each is made on request, and sent again and again until what it shows has changed: then
 * the next request gets a new one, so a page is hardly ever behind. One page takes only a small part of the server's
 * time, however many people look and however often its snitches change.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PublicPage } from '../../../store/status-pages.ts';
import type { Store } from '../../../store/store.ts';
import { isDue, type Made, onShownChange } from '../due.ts';
import { collect, type PageContent } from './collect.ts';

const zip = promisify(gzip);

/** How many pages are remembered; when one more is requested, the one that was begun longest ago is forgotten. */
const REMEMBERED = 200;

/** Renders a page in one format. @param content of the page */
export type Write = (content: PageContent) => string;

export interface Sent {
  bytes: Buffer;
  /** Null until it is made. */
  zipped: Buffer | null;
  etag: string;
}

/** A page at one moment, and its renderings. */
class Edition {
  readonly content: PageContent;
  readonly #sent = new Map<Write, Sent>();

  constructor(content: PageContent) {
    this.content = content;
  }

  as(write: Write): Sent {
    const known = this.#sent.get(write);
    if (known) return known;
    const bytes = Buffer.from(write(this.content));
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
    const sent: Sent = { bytes, zipped: null, etag: `W/"${hash}"` };
    this.#sent.set(write, sent);
    if (bytes.length > 1_024) {
      zip(bytes).then(
        (zipped) => {
          sent.zipped = zipped;
        },
        // It is sent uncompressed.
        () => undefined,
      );
    }
    return sent;
  }
}

export type { Edition };

/** `begunAt` is when the current edition, or the one being made, was begun. */
interface Kept extends Made {
  found: PublicPage;
  edition: Edition | null;
  making: Promise<Edition> | null;
}

export interface PageCacheOptions {
  store: Store;
  /** The wall clock. */
  clock: () => number;
  /** In milliseconds. */
  monotonic?: () => number;
}

export class PageCache {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #monotonic: () => number;
  readonly #kept = new Map<string, Kept>();
  /** How often pages themselves were changed or removed. */
  #changes = 0;

  constructor({ store, clock, monotonic = () => performance.now() }: PageCacheOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#monotonic = monotonic;
    onShownChange(store, (caseId) => (caseId === null ? this.#forgetAll() : this.#grewOld(caseId)));
    store.onChange((change) => {
      if (change.kind === 'statusPage' || change.kind === 'access') this.#forget(change.caseId);
    });
  }

  #grewOld(caseId: string): void {
    for (const kept of this.#kept.values()) if (kept.found.page.caseId === caseId) kept.isOld = true;
  }

  #forget(caseId: string): void {
    this.#changes += 1;
    for (const [slug, kept] of this.#kept) if (kept.found.page.caseId === caseId) this.#kept.delete(slug);
  }

  #forgetAll(): void {
    this.#changes += 1;
    this.#kept.clear();
  }

  /** The page itself, without its content; null if there is none. */
  async find(slug: string): Promise<PublicPage | null> {
    return (await this.#entry(slug))?.found ?? null;
  }

  /** The page as it is now, or was a moment ago; null if there is none. */
  async edition(slug: string): Promise<Edition | null> {
    for (;;) {
      const kept = await this.#entry(slug);
      if (kept === null) return null;
      if (kept.edition !== null && !isDue(kept, this.#monotonic())) return kept.edition;
      const edition = await (kept.making ?? this.#make(kept));
      // Somebody may have removed it, or set a password, while it was being made.
      if (this.#kept.get(slug) === kept) return edition;
    }
  }

  /** The edition that may still be sent; null if there is none, or a new one is due. */
  fresh(slug: string): Edition | null {
    const kept = this.#kept.get(slug);
    return kept?.edition && !isDue(kept, this.#monotonic()) ? kept.edition : null;
  }

  async #entry(slug: string): Promise<Kept | null> {
    for (;;) {
      const known = this.#kept.get(slug);
      if (known) return known;
      const changes = this.#changes;
      const found = await this.#store.findStatusPage(slug);
      if (found === null) return null;
      // What was read may be from before somebody removed the page or set a password, and would
      // then never be forgotten.
      if (changes !== this.#changes || this.#kept.has(slug)) continue;
      if (this.#kept.size >= REMEMBERED) this.#forgetOldest();
      const kept: Kept = { found, edition: null, begunAt: 0, tookMs: 0, isOld: false, making: null };
      this.#kept.set(slug, kept);
      return kept;
    }
  }

  #forgetOldest(): void {
    const [oldest] = [...this.#kept].sort(([, one], [, other]) => one.begunAt - other.begunAt);
    if (oldest) this.#kept.delete(oldest[0]);
  }

  async #make(kept: Kept): Promise<Edition> {
    const begunAt = this.#monotonic();
    kept.begunAt = begunAt;
    kept.isOld = false;
    kept.making = collect(this.#store, kept.found, this.#clock()).then((content) => new Edition(content));
    try {
      const edition = await kept.making;
      kept.edition = edition;
      kept.tookMs = this.#monotonic() - begunAt;
      return edition;
    } catch (error) {
      kept.isOld = true;
      throw error;
    } finally {
      kept.making = null;
    }
  }
}
