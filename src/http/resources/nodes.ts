/** `/v1/nodes`: the daemons that share one database, and their condition. Beyond the contract. */
import type { FastifyInstance } from 'fastify';
import type { WireNode } from '../../api/wire-node.ts';
import type { ListedNode } from '../../store/node.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { wireTime } from '../endpoint/wire.ts';

/** Empty if one daemon has its database to itself. */
export function nodeRoutes(app: FastifyInstance, { store }: RouteContext): void {
  const list = async () => {
    const { node } = store;
    return node ? (await node.list()).map((one) => wireNode(one, node.id)) : [];
  };
  resource(app, '/nodes', { GET: list }, { audience: 'admin' });
}

function wireNode(node: ListedNode, own: string): WireNode {
  const { id, name, version, stoppedAt } = node;
  return {
    id,
    name,
    version,
    answers: id === own,
    started_at: wireTime(node.startedAt),
    alive_at: wireTime(node.aliveAt),
    stopped_at: stoppedAt === null ? null : wireTime(stoppedAt),
    clock_ahead_ms: node.clockAheadMs,
    schema_version: node.schemaVersion,
    waits: node.waits,
  };
}
