/** Finds what the aliases of a YAML file stand for, however many entries share a value. */
import { Alias, type Document, isAlias, isNode, type Node, visit } from 'yaml';

/**
 * Walks the document once. The library walks all of it again for each entry that has an alias: with four times as many
 * entries, reading a file took sixteen times as long.
 */
export function findAliases(document: Document): void {
  const nodes: Node[] = [];
  const anchored = new Map<string, Node>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) nodes.push(rememberTarget(node, anchored.get(node.source), nodes));
      else if (isNode(node) && 'anchor' in node && node.anchor) {
        nodes.push(node);
        anchored.set(node.anchor, node);
      }
    },
  });
}

/** @param nodes all aliases and all nodes with an anchor, in their order in the file */
function rememberTarget(alias: Alias, target: Node | undefined, nodes: Node[]): Alias {
  const resolve: Alias['resolve'] = (document, context) => {
    if (!context) return target as ReturnType<Alias['resolve']>;
    context.aliasResolveCache ??= nodes;
    return Alias.prototype.resolve.call(alias, document, context);
  };
  return Object.assign(alias, { resolve });
}
