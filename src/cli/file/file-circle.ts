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
  const needy = [...nodes].filter(([, { needs }]) => needs.length > 0);
  const byTag = new Map<string, [Key, Node][]>();
  for (const [key, node] of needy) {
    for (const tag of node.tags) byTag.set(tag, [...(byTag.get(tag) ?? []), [key, node]]);
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
