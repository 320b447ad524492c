import { setTimeout as sleep } from 'node:timers/promises';
import type { HostFigures } from '../http/metrics/host-figures.ts';
import type { ClusterNode } from '../store/node.ts';
import { databasePath } from '../store/sqlite/connection.ts';
import type { Sweeper } from '../sweep/sweeper.ts';
import { roomAt, sizeOfFiles } from '../system/disk.ts';

/** A database that is away must not hold up the other figures. In milliseconds. */
const SHARED_SIZE_WITHIN = 1_000;

/**
 * What `/metrics` shows about the sweep and the disk.
 *
 * @param node null if the database is a file on this host
 */
export async function hostFigures(
  sweeper: Pick<Sweeper, 'sweptAgo'>,
  dataDir: string,
  node: Pick<ClusterNode, 'databaseSize' | 'clockAheadMs' | 'connections'> | null,
): Promise<HostFigures> {
  const database = databasePath(dataDir);
  const [disk, databaseSize] = await Promise.all([
    roomAt(dataDir),
    node ? sharedSize(node) : sizeOfFiles([database, `${database}-wal`]),
  ]);
  return {
    sweptAgo: sweeper.sweptAgo(),
    disk,
    databaseSize,
    clockAheadMs: node?.clockAheadMs() ?? null,
    connections: node?.connections() ?? null,
  };
}

async function sharedSize(node: Pick<ClusterNode, 'databaseSize'>): Promise<number | null> {
  const late = sleep(SHARED_SIZE_WITHIN, null, { ref: false });
  return Promise.race([node.databaseSize().catch(() => null), late]);
}
