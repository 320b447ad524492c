/** Finds circles in what the snitches of a file need, before anything is changed; the server would refuse them. */
import type { WireSnitch } from '../../api/wire.ts';
import { circleInWords, type NeedStep, needOf } from '../../core/needs/needs.ts';
import type { Met, Ref, ToMake } from './file-needs.ts';

/** A snitch as it will be. */
interface Node {
  name: string;
  tags: readonly string[];
  needs: readonly Ref[];
}

type Key = string | ToMake;

interface Step extends NeedStep {
  key: Key;
  from: Step | null;
}

/**
 * @param refs what the entries of the file need, if they mention that @returns the first circle; null if there is none
 */
export function circleIn(
  present: readonly WireSnitch[],
  met: readonly Met[],
  refs: ReadonlyMap<Met, readonly Ref[]>,
): { position: number; message: string } | null {
  const nodes = nodesOf(present, met, refs);
  // The search below is made for one snitch at a time, and so only for those that may be in a circle.
  const suspects = inCircles(nodes);
  const byTag = new Map<string, [Key, Node][]>();
  for (const [key, node] of nodes) {
    if (!suspects.has(key)) continue;
    for (const tag of node.tags)
      byTag
        .set(tag, byTag.get(tag) ?? [])
        .get(tag)
        ?.push([key, node]);
  }
  const neededBy = (node: Node, from: Step | null): Step[] =>
    node.needs.flatMap((ref): Step[] => {
      const need = typeof ref === 'string' ? needOf(ref) : null;
      if (need && 'tag' in need) {
        return (byTag.get(need.tag) ?? []).map(([key, { name }]) => ({ key, name, tag: need.tag, from }));
      }
      return [{ key: ref, name: nodes.get(ref)?.name ?? '', tag: null, from }];
    });
  for (const one of met) {
    if (!suspects.has(keyOf(one))) continue;
    const path = wayBack(nodes, keyOf(one), neededBy);
    if (path) {
      return { position: one.position, message: `would go in a circle: ${circleInWords(one.name, path)}` };
    }
  }
  return null;
}

/** Those that the file does not name stay as they are. */
function nodesOf(
  present: readonly WireSnitch[],
  met: readonly Met[],
  refs: ReadonlyMap<Met, readonly Ref[]>,
): Map<Key, Node> {
  const nodes = new Map<Key, Node>();
  for (const { token, name, tags, needs = [] } of present) nodes.set(token, { name, tags, needs });
  for (const one of met) {
    const key = keyOf(one);
    const { name, tags } = one;
    nodes.set(key, { name, tags, needs: refs.get(one) ?? nodes.get(key)?.needs ?? [] });
  }
  return nodes;
}

function keyOf({ is }: Met): Key {
  return 'beside' in is ? (is.token ?? is) : is.token;
}

/**
 * The snitches in circles, and those between two circles, in a time that grows with the file and not with its square:
 * whatever needs nothing that is left, or is needed by nothing that is left, is taken away until nothing changes. A tag
 * stands for all snitches that have it.
 */
function inCircles(nodes: ReadonlyMap<Key, Node>): Set<Key> {
  const forward = new Map<Key, Key[]>();
  const back = new Map<Key, Key[]>();
  const edge = (from: Key, to: Key) => {
    for (const [map, one, other] of [
      [forward, from, to],
      [back, to, from],
    ] as const)
      map
        .set(one, map.get(one) ?? [])
        .get(one)
        ?.push(other);
  };
  for (const [key, { tags, needs }] of nodes) {
    for (const need of needs) edge(key, need);
    for (const tag of tags) edge(`tag:${tag}`, key);
  }
  const left = new Set<Key>([...forward.keys(), ...back.keys()]);
  takeAway(left, forward, back);
  takeAway(left, back, forward);
  return left;
}

/** Takes away what has no way on among `left`, again and again. */
function takeAway(left: Set<Key>, on: ReadonlyMap<Key, Key[]>, before: ReadonlyMap<Key, Key[]>): void {
  const ways = new Map(
    [...left].map((key) => [key, (on.get(key) ?? []).filter((other) => left.has(other)).length]),
  );
  const ends = [...left].filter((key) => ways.get(key) === 0);
  for (const key of ends) {
    left.delete(key);
    for (const other of before.get(key) ?? []) {
      if (!left.has(other)) continue;
      const remaining = (ways.get(other) ?? 0) - 1;
      ways.set(other, remaining);
      if (remaining === 0) ends.push(other);
    }
  }
}

/** The shortest way from a snitch through what it needs back to itself; null if there is none. */
function wayBack(
  nodes: ReadonlyMap<Key, Node>,
  start: Key,
  neededBy: (node: Node, from: Step | null) => Step[],
): Step[] | null {
  const first = nodes.get(start);
  const open = first ? neededBy(first, null) : [];
  const seen = new Set<Key>();
  for (const step of open) {
    if (step.key === start) return wayTo(step);
    if (seen.has(step.key)) continue;
    seen.add(step.key);
    const node = nodes.get(step.key);
    if (node) open.push(...neededBy(node, step));
  }
  return null;
}

function wayTo(last: Step): Step[] {
  const path: Step[] = [];
  for (let step: Step | null = last; step; step = step.from) path.unshift(step);
  return path;
}
