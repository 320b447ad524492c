import type { HostFigures } from '../http/metrics/host-figures.ts';
import { databasePath } from '../store/sqlite/connection.ts';
import type { Sweeper } from '../sweep/sweeper.ts';
import { roomAt, sizeOfFiles } from '../system/disk.ts';

/** What `/metrics` tells of the sweep and the disk. */
export async function hostFigures(sweeper: Pick<Sweeper, 'sweptAgo'>, dataDir: string): Promise<HostFigures> {
  const database = databasePath(dataDir);
  const [disk, databaseSize] = await Promise.all([
    roomAt(dataDir),
    sizeOfFiles([database, `${database}-wal`]),
  ]);
  return { sweptAgo: sweeper.sweptAgo(), disk, databaseSize };
}
