/** Gathers what a page shows, in slices, so other work of the server can come in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Calendar } from '../../../core/interval.ts';
import { EVERYTHING, isShownOn, MOST_SHOWN, type StatusPage } from '../../../core/status-page/page.ts';
import { presentSince, type Span, spansOf } from '../../../core/status-page/spans.ts';
import { type PublicState, publicNameOf, publicState } from '../../../core/status-page/state.ts';
import { type Mark, marksOf, periodEdges, type Rhythm } from '../../../core/status-page/strip.ts';
import type { KeptPast, PublicPage, ShownSnitch, StatusPageStore } from '../../../store/status-pages.ts';
import { Quiet, REACH } from './quiet.ts';

export type State = PublicState;

/** One snitch as the page shows it. Nothing else about it is passed on. */
export interface ShownLine {
  name: string;
  state: State;
  /** Since when it has been so; null if that is not known. */
  since: number | null;
  /** When planned work ends. */
  until: number | null;
  rhythm: Rhythm;
  edges: readonly number[];
  marks: readonly Mark[];
}

export interface ShownGroup {
  /** The heading; null for snitches without one. */
  tag: string | null;
  lines: ShownLine[];
}

/** The beginning or end of an outage. */
export interface ShownChange {
  /** Identifies the change, and reveals nothing else. */
  key: string;
  at: number;
  /** When it is told: later than it happened if it began in planned work. */
  toldAt: number;
  name: string;
  to: 'missing' | 'error' | 'well';
}

export interface PageContent {
  page: StatusPage;
  timezone: string;
  now: number;
  groups: ShownGroup[];
  /** Counts all snitches with the tags, whether they are in `groups` or not. */
  counts: Record<State, number>;
  total: number;
  /** How many are left out because there are too many. */
  leftOut: number;
  /** Newest first. */
  changes: ShownChange[];
}

const SLICE = 200;
const PASTS = 20;
const CHANGES_READ = 500;
const CHANGES_SHOWN = 100;

export async function collect(
  store: StatusPageStore,
  { page, timezone }: PublicPage,
  now: number,
): Promise<PageContent> {
  const quiet = new Quiet(await store.quietTimes(page.caseId, now - REACH, now), timezone, now);
  const counts = { well: 0, missing: 0, error: 0, planned: 0, paused: 0, pending: 0 };
  const places = new Places(page);
  for await (const snitch of shownOn(store, page)) {
    const state = stateOf(snitch, quiet);
    counts[state] += 1;
    places.take(snitch, state);
  }
  const chosen = places.chosen();
  const lines = await linesOf(
    store,
    chosen.map(({ snitch }) => snitch),
    { page, timezone, now, quiet },
  );
  const groups = places.headings().map((tag): ShownGroup => ({ tag, lines: [] }));
  for (const [index, { group }] of chosen.entries()) {
    const line = lines[index];
    if (line) groups[group]?.lines.push(line);
  }
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = groups.filter((group) => group.lines.length > 0);
  const changes = await changesOf(store, page, quiet);
  return { page, timezone, now, groups: shown, counts, total, leftOut: total - chosen.length, changes };
}

/** Each snitch with one of the tags, once, in order of creation within each tag. */
async function* shownOn(store: StatusPageStore, { caseId, tags }: StatusPage): AsyncGenerator<ShownSnitch> {
  const seen = new Set<number>();
  const wanted = tags.includes(EVERYTHING) ? [null] : tags;
  for (const tag of wanted) {
    let after: number | null = 0;
    while (after !== null) {
      const slice: Awaited<ReturnType<StatusPageStore['listShown']>> = await store.listShown(caseId, {
        tag,
        after,
        limit: SLICE,
      });
      for (const snitch of slice.snitches) {
        if (wanted.length > 1 && seen.has(snitch.id)) continue;
        if (wanted.length > 1) seen.add(snitch.id);
        yield snitch;
      }
      after = slice.next;
      await nextTurn();
    }
  }
}

/**
 * Keeps as many snitches as are shown: first those that are not well, then the others in the order of their headings.
 */
class Places {
  readonly #page: StatusPage;
  readonly #bad: { snitch: ShownSnitch; group: number }[] = [];
  readonly #others: { snitch: ShownSnitch; group: number }[][];

  constructor(page: StatusPage) {
    this.#page = page;
    this.#others = this.headings().map(() => []);
  }

  /** Snitches without a heading's tag come last, without a heading. */
  headings(): (string | null)[] {
    return [...this.#page.groups, null];
  }

  take(snitch: ShownSnitch, state: State): void {
    const found = this.#page.groups.findIndex((tag) => snitch.tags.includes(tag));
    const group = found === -1 ? this.#page.groups.length : found;
    const isBad = state === 'missing' || state === 'error';
    const kept = isBad ? this.#bad : (this.#others[group] ?? []);
    if (kept.length < MOST_SHOWN) kept.push({ snitch, group });
  }

  chosen(): { snitch: ShownSnitch; group: number }[] {
    const chosen = [...this.#bad, ...this.#others.flat()].slice(0, MOST_SHOWN);
    return chosen.sort((one, other) => one.group - other.group || compare(one.snitch, other.snitch));
  }
}

function compare(one: ShownSnitch, other: ShownSnitch): number {
  return BY_NAME.compare(publicNameOf(one), publicNameOf(other)) || one.id - other.id;
}

const BY_NAME = new Intl.Collator('en', { numeric: true });

function stateOf(snitch: ShownSnitch, quiet: Quiet): State {
  return publicState(snitch.status, quiet.untilFor(snitch) !== null);
}

interface Around {
  page: StatusPage;
  timezone: string;
  now: number;
  quiet: Quiet;
}

async function linesOf(
  store: StatusPageStore,
  snitches: readonly ShownSnitch[],
  around: Around,
): Promise<ShownLine[]> {
  const lines: ShownLine[] = [];
  for (let from = 0; from < snitches.length; from += PASTS) {
    const slice = snitches.slice(from, from + PASTS);
    const pasts = await store.listPasts(around.page, slice);
    for (const snitch of slice) lines.push(lineOf(snitch, pasts.get(snitch.id) ?? NO_PAST, around));
    await nextTurn();
  }
  return lines;
}

const NO_PAST: KeptPast = { changes: [], alerts: [], isCut: false };

function lineOf(snitch: ShownSnitch, past: KeptPast, { page, timezone, now, quiet }: Around): ShownLine {
  const { status, createdAt, interval, schedule, timezone: own } = snitch;
  const spans: Span[] = spansOf({ ...past, status, createdAt, since: page.since });
  const rhythm = { interval, schedule, timezone: own };
  const edges = edgesOf(rhythm, timezone, now);
  const state = stateOf(snitch, quiet);
  return {
    name: publicNameOf(snitch),
    state,
    since: state === 'planned' || state === 'pending' ? null : presentSince(spans),
    until: state === 'planned' ? quiet.untilFor(snitch) : null,
    rhythm,
    edges,
    marks: marksOf(edges, spans, { away: quiet.away, quiet: quiet.over(snitch) }, now),
  };
}

const CALENDAR = new Calendar();

/** Many snitches have the same rhythm, and its periods are the same until the current one ends. */
const EDGES = new Map<string, readonly number[]>();
const REMEMBERED_EDGES = 2_000;

function edgesOf(rhythm: Rhythm, caseZone: string, now: number): readonly number[] {
  const key = `${rhythm.interval} ${JSON.stringify(rhythm.schedule)} ${rhythm.timezone ?? caseZone} ${caseZone}`;
  const known = EDGES.get(key);
  if (known && (known.at(-2) ?? now) <= now && now < (known.at(-1) ?? now)) return known;
  const edges = periodEdges(rhythm, caseZone, CALENDAR, now);
  if (EDGES.size >= REMEMBERED_EDGES) EDGES.clear();
  EDGES.set(key, edges);
  return edges;
}

/**
 * What began and ended lately. What happened during planned work, or while the service was away, is told only if it
 * outlasts that, and then. The end of something that was told is always told: readers would believe that it goes on.
 */
async function changesOf(store: StatusPageStore, page: StatusPage, quiet: Quiet): Promise<ShownChange[]> {
  const shown: ShownChange[] = [];
  /** Snitches whose outage was shown and has not ended yet. */
  const open = new Set<number>();
  /** By snitch: the beginning of an outage that nobody was told of yet. */
  const untold = new Map<number, ShownChange>();
  const tellUntil = (id: number, until: number) => {
    const began = untold.get(id);
    untold.delete(id);
    if (!began || began.toldAt > until) return;
    open.add(id);
    shown.push(began);
  };
  const changes = await store.listStatusChanges(page.id, CHANGES_READ);
  for (const { at, was, status, snitch } of changes.toReversed()) {
    if (!isShownOn(page, snitch.tags)) continue;
    tellUntil(snitch.id, at);
    const isBad = status === 'failed' || status === 'errored';
    const isEnd = status === 'healthy' && (was === 'failed' || was === 'errored');
    const quietUntil = quiet.endsAfter(snitch, at);
    const isTold = quietUntil === null || (isEnd && open.has(snitch.id));
    if (!isBad) open.delete(snitch.id);
    else if (isTold) open.add(snitch.id);
    if (!isBad && !(isEnd && isTold)) continue;
    const to = status === 'failed' ? 'missing' : status === 'errored' ? 'error' : 'well';
    const change = {
      key: `${page.id} ${snitch.id} ${at}`,
      at,
      toldAt: at,
      name: publicNameOf(snitch),
      to,
    } as const;
    if (isTold) shown.push(change);
    else untold.set(snitch.id, { ...change, toldAt: quietUntil });
  }
  for (const id of [...untold.keys()]) tellUntil(id, quiet.now);
  return shown
    .reverse()
    .sort((one, other) => other.toldAt - one.toldAt)
    .slice(0, CHANGES_SHOWN);
}
