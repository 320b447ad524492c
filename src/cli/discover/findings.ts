/** Compares the jobs of a host with the snitches of the server. */
import type { WireSnitch } from '../../api/wire.ts';
import type { Discovery, Proposal, WatchedAlready } from './discovery.ts';
import { type Difference, differenceOf, dueInWords } from './drift.ts';

/** What the server has. */
export interface Kept {
  snitches: readonly WireSnitch[];
  /** Time zone of the case. */
  caseZone: string;
}

export type FindingKind =
  /** The job does not check in. */
  | 'unwatched'
  /** It checks in, and its snitch expects something else. */
  | 'drifted'
  /** The same, but the snitch is only less exact than it could be. */
  | 'inexact'
  /** It checks in to a snitch that is not there. */
  | 'unknown'
  /** A snitch of this host is left without its job. */
  | 'gone'
  /** Nothing can be said, or a line is wrong. */
  | 'unclear';

export interface Finding {
  kind: FindingKind;
  /** Of the snitch, or the one that it would have. */
  name: string;
  where: string;
  words: string;
  /** Of the snitch that is there; null for none. */
  token: string | null;
  difference: Difference | null;
}

/** What makes a check fail: everything but what could only be more exact. */
export function isFault({ kind }: Finding): boolean {
  return kind !== 'inexact';
}

/**
 * The snitch that was made for a job whose line does not check in yet. One that another job mentions is not its own,
 * whatever its name.
 */
function snitchFor(
  { name, otherNames }: Proposal,
  byName: ReadonlyMap<string, WireSnitch>,
  isTaken: (snitch: WireSnitch) => boolean,
): WireSnitch | null {
  for (const one of [name, ...otherNames]) {
    const snitch = byName.get(one);
    if (snitch && !isTaken(snitch)) return snitch;
  }
  return null;
}

/** Gives each job the snitch that was made for it, and none to two of them. */
export function ownSnitches(
  { proposals, mentioned }: Pick<Discovery, 'proposals' | 'mentioned'>,
  snitches: readonly WireSnitch[],
): { proposal: Proposal; snitch: WireSnitch | null }[] {
  const byName = new Map(snitches.map((snitch) => [snitch.name, snitch]));
  const given = new Set<string>();
  return proposals.map((proposal) => {
    const snitch = snitchFor(proposal, byName, ({ token, name }) => {
      return given.has(token) || mentioned.has(token) || mentioned.has(name);
    });
    if (snitch !== null) given.add(snitch.token);
    return { proposal, snitch };
  });
}

/** @param now milliseconds since the epoch */
export function findingsOf(discovery: Discovery, kept: Kept, host: string, now: number): Finding[] {
  const moment = { caseZone: kept.caseZone, now };
  const own = new Set<string>();
  const unwatched = ownSnitches(discovery, kept.snitches).flatMap(({ proposal, snitch }) => {
    const { name, where, due } = proposal;
    const words = snitch
      ? `its snitch exists, but the job does not check in: ${dueInWords(due)}`
      : dueInWords(due);
    const one: Finding = { kind: 'unwatched', name, where, words, token: null, difference: null };
    if (snitch === null) return [one];
    own.add(snitch.token);
    const difference = differenceOf(due, snitch, moment);
    const differs = difference === null ? [] : [differing(snitch, where, difference)];
    return [{ ...one, name: snitch.name, token: snitch.token }, ...differs];
  });
  const watched = discovery.watched.flatMap((one) => watchedFindings(one, kept, moment));
  const unclear = discovery.passedOver
    .filter(({ excused = false }) => !excused)
    .map(({ where, reason }): Finding => {
      return { kind: 'unclear', name: '', where, words: reason, token: null, difference: null };
    });
  return [...unwatched, ...watched, ...unclear, ...goneFindings(discovery, kept, own, host)];
}

function watchedFindings(
  { references, due, where }: WatchedAlready,
  { snitches }: Kept,
  moment: { caseZone: string; now: number },
): Finding[] {
  const snitch = mentionedBy(references, snitches);
  if (snitch === null) {
    // Its token is in a file or a variable, so nothing can be said.
    if (references.length === 0) return [];
    const words = 'it checks in to a snitch that does not exist';
    return [{ kind: 'unknown', name: '', where, words, token: null, difference: null }];
  }
  const difference = due === null ? null : differenceOf(due, snitch, moment);
  return difference === null ? [] : [differing(snitch, where, difference)];
}

function differing({ name, token }: WireSnitch, where: string, difference: Difference): Finding {
  const kind = difference.isDrift ? 'drifted' : 'inexact';
  return { kind, name, where, words: difference.words, token, difference };
}

/** A token is looked for first, because a name may be an argument of anything. */
export function mentionedBy(
  references: readonly string[],
  snitches: readonly WireSnitch[],
): WireSnitch | null {
  const among = new Set(references);
  return (
    snitches.find(({ token }) => among.has(token)) ?? snitches.find(({ name }) => among.has(name)) ?? null
  );
}

/** What this command writes into the notes of a snitch, with the place of its job. */
const NOTE = /^Found by discover: (\S+)/;

function goneFindings(
  { mentioned, passedOver, ignored, watched }: Discovery,
  { snitches }: Kept,
  own: ReadonlySet<string>,
  host: string,
): Finding[] {
  const closed = passedOver.filter(({ excused = false }) => !excused).map(({ where }) => where);
  const ignoredPlaces = ignored.map(({ where }) => where);
  const ignoredNames = new Set(ignored.map(({ what }) => what));
  // Jobs that check in without naming their snitch, by their files and timers: any that was found there may be theirs.
  const silent = watched
    .filter(({ references }) => references.length === 0)
    .flatMap(({ where, what }) => [fileOf(where), what]);
  return snitches.flatMap((snitch): Finding[] => {
    const { name, token, notes } = snitch;
    const [, place] = NOTE.exec(notes) ?? [];
    if (place === undefined || !name.endsWith(`@${host}`)) return [];
    if (own.has(token) || mentioned.has(token) || mentioned.has(name)) return [];
    if (ignoredNames.has(name) || silent.includes(fileOf(place))) return [];
    // What cannot be read may still have the job; what is ignored has it.
    if ([...closed, ...ignoredPlaces].some((where) => where.endsWith(place) || place.startsWith(where))) {
      return [];
    }
    const words = 'its job is gone from this host, or no longer starts';
    return [{ kind: 'gone', name, where: place, words, token, difference: null }];
  });
}

/** `/etc/crontab` for `/etc/crontab:12`, whose line may have moved since. */
function fileOf(where: string): string {
  return where.replace(/:\d+$/, '');
}
