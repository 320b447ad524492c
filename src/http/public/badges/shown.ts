/**
 * Badges as they are sent, made again when no longer fresh: however often one is fetched, it costs a few look-ups a
 * second.
 */
import { createHash } from 'node:crypto';
import { type BadgeFace, colorOf, isAlarming, wordOf } from '../../../core/badges/badge.ts';
import { activeAt, covers } from '../../../core/silences/silence.ts';
import { publicState } from '../../../core/status-page/state.ts';
import type { ShownBadge } from '../../../store/badges.ts';
import type { Store } from '../../../store/store.ts';
import { type TagSource, TagStates } from './tag-states.ts';

/** How long a badge counts as fresh, in milliseconds: it must be right within a second of a change. */
const FRESH = 400;

/** How many badges are kept as bytes: some 3 KB each. */
const MOST_KEPT = 1_000;

export interface Shown {
  body: Buffer;
  /** As in the header. */
  etag: string;
}

/** A badge in both of its forms. */
export interface ShownForms {
  svg: Shown;
  json: Shown;
}

interface Kept {
  face: BadgeFace;
  forms: ShownForms;
  /** Until when it is not looked up again, in milliseconds of the monotonic clock. */
  freshUntil: number;
}

export type BadgeSource = Pick<Store, 'findBadge'> & TagSource;

export class ShownBadges {
  readonly #store: BadgeSource;
  /** The wall clock. */
  readonly #clock: () => number;
  readonly #tags: TagStates;
  readonly #kept = new Map<string, Kept>();
  readonly #looks = new Map<string, Promise<ShownForms | null>>();

  constructor(store: BadgeSource, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#tags = new TagStates(store, clock);
  }

  /** What may still be sent without a look-up; null if there is nothing. */
  fresh(id: string): ShownForms | null {
    const kept = this.#kept.get(id);
    return kept && performance.now() < kept.freshUntil ? kept.forms : null;
  }

  /** Null for a badge that does not exist. Simultaneous requests for the same badge share one look-up. */
  async get(id: string): Promise<ShownForms | null> {
    const fresh = this.fresh(id);
    if (fresh) return fresh;
    const running = this.#looks.get(id);
    if (running) return running;
    const look = this.#look(id, this.#kept.get(id)).finally(() => this.#looks.delete(id));
    this.#looks.set(id, look);
    return look;
  }

  async #look(id: string, kept: Kept | undefined): Promise<ShownForms | null> {
    // What is read afterwards may be newer than this, but is never older.
    const freshUntil = performance.now() + FRESH;
    const face = await this.#faceOf(id);
    this.#kept.delete(id);
    if (face === null) return null;
    const isSame = kept?.face.label === face.label && kept.face.state === face.state;
    const forms = isSame ? kept.forms : await formsOf(face);
    this.#kept.set(id, { face, forms, freshUntil });
    this.#dropOldest();
    return forms;
  }

  async #faceOf(id: string): Promise<BadgeFace | null> {
    const badge = await this.#store.findBadge(id);
    if (badge === null) return null;
    const { label, caseId, timezone, of } = badge;
    const state =
      of.kind === 'tag'
        ? await this.#tags.of({ caseId, tag: of.tag, timezone })
        : publicState(of.status, await this.#isSilenced(badge, of));
    return { label, state };
  }

  async #isSilenced(
    { caseId, timezone }: ShownBadge,
    snitch: { token: string; tags: readonly string[] },
  ): Promise<boolean> {
    const now = this.#clock();
    const { silences } = await this.#store.quietTimes(caseId, now, now);
    return activeAt(silences, now, timezone).some(({ silence }) => covers(silence, snitch));
  }

  /** The entries that were looked up longest ago come first. */
  #dropOldest(): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function formsOf(face: BadgeFace): Promise<ShownForms> {
  const { drawBadge } = await import('./draw.ts');
  return { svg: shownAs(drawBadge(face)), json: shownAs(endpointJson(face)) };
}

/** In the format that shields.io expects of an endpoint. */
function endpointJson({ label, state }: BadgeFace): string {
  const schemaVersion = 1;
  return JSON.stringify({
    schemaVersion,
    label,
    message: wordOf(state),
    color: colorOf(state),
    isError: isAlarming(state),
  });
}

function shownAs(text: string): Shown {
  const body = Buffer.from(text);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
