/** What is shown of badges, made anew when it is no longer fresh: however often one is fetched, it costs a few looks a second. */
import { createHash } from 'node:crypto';
import { type BadgeFace, colorOf, isAlarming, isWorst, worstOf } from '../../../core/badges/badge.ts';
import type { Status } from '../../../core/snitch.ts';
import type { Store } from '../../../store/store.ts';

/** How long a badge is taken to be true, in milliseconds: it is to be true within a second of a change. */
const FRESH = 400;

/** Of so many badges the bytes are kept: some 3 KB each. */
const MOST_KEPT = 1_000;

export interface Shown {
  body: Buffer;
  /** As the header has it. */
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
  /** Until then it is not looked at again, by a clock that nobody sets; milliseconds. */
  freshUntil: number;
}

export type BadgeSource = Pick<Store, 'findBadge' | 'tagStatuses'>;

export class ShownBadges {
  readonly #store: BadgeSource;
  readonly #kept = new Map<string, Kept>();
  readonly #looks = new Map<string, Promise<ShownForms | null>>();

  constructor(store: BadgeSource) {
    this.#store = store;
  }

  /** Null for a badge that there is not. Requests for the same badge at the same time share one look. */
  async get(id: string): Promise<ShownForms | null> {
    const kept = this.#kept.get(id);
    if (kept && performance.now() < kept.freshUntil) return kept.forms;
    const running = this.#looks.get(id);
    if (running) return running;
    const look = this.#look(id, kept).finally(() => this.#looks.delete(id));
    this.#looks.set(id, look);
    return look;
  }

  async #look(id: string, kept: Kept | undefined): Promise<ShownForms | null> {
    // What is read afterwards may be newer than this, but is never older.
    const freshUntil = performance.now() + FRESH;
    const face = await faceOf(this.#store, id);
    this.#kept.delete(id);
    if (face === null) return null;
    const isSame = kept?.face.label === face.label && kept.face.state === face.state;
    const forms = isSame ? kept.forms : await formsOf(face);
    this.#kept.set(id, { face, forms, freshUntil });
    this.#dropOldest();
    return forms;
  }

  /** Those that were looked at longest ago stand first. */
  #dropOldest(): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function faceOf(store: BadgeSource, id: string): Promise<BadgeFace | null> {
  const shown = await store.findBadge(id);
  if (shown === null || 'state' in shown) return shown;
  const { label, caseId, tag } = shown;
  const statuses = new Set<Status>();
  let after: number | null = 0;
  while (after !== null) {
    const slice = await store.tagStatuses(caseId, tag, after);
    for (const status of slice.statuses) statuses.add(status);
    after = [...statuses].some(isWorst) ? null : slice.next;
    // Check-ins get their turn in between.
    if (after !== null) await new Promise((resolve) => void setImmediate(resolve));
  }
  return { label, state: worstOf(statuses) };
}

async function formsOf(face: BadgeFace): Promise<ShownForms> {
  const { drawBadge } = await import('./draw.ts');
  return { svg: shownAs(drawBadge(face)), json: shownAs(endpointJson(face)) };
}

/** As an endpoint of shields.io answers. */
function endpointJson({ label, state }: BadgeFace): string {
  const schemaVersion = 1;
  return JSON.stringify({
    schemaVersion,
    label,
    message: state,
    color: colorOf(state),
    isError: isAlarming(state),
  });
}

function shownAs(text: string): Shown {
  const body = Buffer.from(text);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
