/**
 * The pages as they are sent. Each is made when somebody asks for it, and sent again and again until what it shows has
 * changed: then the next one who asks gets a new one, so that a page is hardly ever behind. What one page
 * costs stays a small part of what the server has, however many ask for it and however often its snitches change.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PublicPage } from '../../../store/status-pages.ts';
import type { Store } from '../../../store/store.ts';
import { isDue, type Made, onShownChange } from '../due.ts';
import { collect, type PageContent } from './collect.ts';

const zip = promisify(gzip);

/** Pages that are remembered; when one more is asked for, the one that was begun longest ago is forgotten. */
const REMEMBERED = 200;

/** What can be made of a page. @param content of the page */
export type Write = (content: PageContent) => string;

export interface Sent {
  bytes: Buffer;
  /** Null until it is made. */
  zipped: Buffer | null;
  etag: string;
}

/** A page at one time, and what was made of it. */
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
        // It is sent as it is.
        () => undefined,
      );
    }
    return sent;
  }
}

export type { Edition };

/** `begunAt` is when the present edition was begun, or the one that is being made. */
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
  /** How often pages themselves were changed or taken away. */
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

  /** The page itself, without what it shows; null where there is none. */
  async find(slug: string): Promise<PublicPage | null> {
    return (await this.#entry(slug))?.found ?? null;
  }

  /** As it is now, or was a moment ago; null where there is none. */
  async edition(slug: string): Promise<Edition | null> {
    for (;;) {
      const kept = await this.#entry(slug);
      if (kept === null) return null;
      if (kept.edition !== null && !isDue(kept, this.#monotonic())) return kept.edition;
      const edition = await (kept.making ?? this.#make(kept));
      // Somebody may have taken it away, or closed it, while it was made.
      if (this.#kept.get(slug) === kept) return edition;
    }
  }

  /** The edition that may still be sent; null where there is none, or another one is due. */
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
      // What was read may be from before somebody closed it, and nobody would forget it any more.
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
