/**
 * What an entry of a snitch file says about what its snitch needs: other snitches by their names or tokens, and
 * `tag:<tag>`. An entry that does not name the field leaves it as it is. The API accepts only tokens, so the needs are
 * written last, when everything that the file names exists.
 */
import type { WireSnitch } from '../../api/wire.ts';
import { MOST_NEEDS, needOf } from '../../core/needs/needs.ts';

/** A snitch that has to be made before it has a token, unless the file gives one. */
export interface ToMake {
  name: string;
  token: string | null;
  /** Distinguishes it from a snitch that exists. */
  beside: string | null;
  needs?: string[];
}

/** What is needed, as a request names it, or what has to be made first. */
export type Ref = string | ToMake;

/** The needs of a snitch that have to change. */
export interface NeedsChange {
  of: string | ToMake;
  needs: Ref[];
}

/** An entry of the file and the snitch that it means, or is going to be. */
export interface Met {
  position: number;
  /** Undefined if the file does not mention it. */
  needs: readonly string[] | undefined;
  tags: readonly string[];
  name: string;
  token: string | null;
  is: WireSnitch | ToMake;
}

export interface NeedsPlan {
  changes: { of: WireSnitch | ToMake; needs: Ref[]; from: string[]; to: string[] }[];
  faults: { position: number; message: string }[];
  /** What the entries need, for those that mention it. */
  refs: Map<Met, Ref[]>;
}

/** The needs in a file as a list; or in words what is wrong with them. */
export function fileNeeds(given: unknown): { needs: string[] | undefined } | { refused: string } {
  if (given === undefined) return { needs: undefined };
  const list = typeof given === 'string' ? [given] : (given ?? []);
  if (!Array.isArray(list) || !list.every((one): one is string => typeof one === 'string')) {
    return { refused: 'must be a list of names, tokens or tag:<tag>' };
  }
  if (list.length > MOST_NEEDS) return { refused: `has too many (maximum is ${MOST_NEEDS})` };
  return { needs: list };
}

export function planNeeds(present: readonly WireSnitch[], met: readonly Met[]): NeedsPlan {
  const plan: NeedsPlan = { changes: [], faults: [], refs: new Map() };
  if (met.every(({ needs }) => needs === undefined)) return plan;
  const names = new Map(present.map(({ token, name }) => [token, name]));
  for (const one of met) {
    const { position, needs, is } = one;
    if (needs === undefined) continue;
    const refs: Ref[] = [];
    plan.refs.set(one, refs);
    for (const need of needs) {
      const ref = refOf(need, present, met);
      if (typeof ref === 'object' && 'refused' in ref) plan.faults.push({ position, message: ref.refused });
      else refs.push(ref);
    }
    const before = 'beside' in is ? [] : (is.needs ?? []);
    if (JSON.stringify(refs) === JSON.stringify(before)) continue;
    const shown = (ref: Ref) => (typeof ref === 'string' ? (names.get(ref) ?? ref) : ref.name);
    plan.changes.push({ of: is, needs: refs, from: before.map(shown), to: refs.map(shown) });
  }
  return plan;
}

function refOf(
  given: string,
  present: readonly WireSnitch[],
  met: readonly Met[],
): Ref | { refused: string } {
  if ('tag' in needOf(given)) return given;
  const inFile = met.find(({ token }) => token === given);
  if (inFile) return given;
  if (present.some(({ token }) => token === given)) return given;
  const named = met.filter(({ name }) => name === given).map(({ is }) => is);
  const all = named.length > 0 ? named : present.filter(({ name }) => name === given);
  const [first, ...others] = all;
  if (!first) return { refused: `no snitch has the token or the name "${given}"` };
  if (others.length > 0)
    return { refused: `${all.length} snitches have the name "${given}": give its token` };
  return 'beside' in first ? (first.token ?? first) : first.token;
}

/** By the tokens of the snitches that others need: how a file names them. */
export type NeededNames = ReadonlyMap<string, string>;

/** By the name, unless another has the same. */
export function neededNames(all: readonly WireSnitch[]): NeededNames {
  const needed = new Set(all.flatMap(({ needs = [] }) => needs));
  const names = new Map(
    all.filter(({ token }) => needed.has(token)).map(({ token, name }) => [token, name] as const),
  );
  const counts = new Map([...names.values()].map((name) => [name, 0]));
  for (const { name } of all) {
    const count = counts.get(name);
    if (count !== undefined) counts.set(name, count + 1);
  }
  const isPlain = (name: string) => 'token' in needOf(name) && counts.get(name) === 1;
  return new Map([...names].map(([token, name]) => [token, isPlain(name) ? name : token]));
}

/** What is needed, as a file names it. */
export function needsEntry({ needs = [] }: WireSnitch, names: NeededNames): { needs?: string[] } {
  if (needs.length === 0) return {};
  return { needs: needs.map((need) => ('tag' in needOf(need) ? need : (names.get(need) ?? need))) };
}
