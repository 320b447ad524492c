/**
 * Whether the data directory is a good place for a database: not on a network file system, and not inside a container.
 */
import { statfsSync } from 'node:fs';
import { isInContainer, isInImage } from '../system/container.ts';
import type { Concern } from './data-directory.ts';

/** The kernel's numbers for network file systems (statfs(2)). FUSE is not among them: it may be a local disk. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'CephFS'],
]);

const TMPFS = 0x01021994;

/** What is known of a directory, apart from permissions. */
export interface Place {
  /** The file system, by the kernel's number. */
  type: number;
  inContainer: boolean;
  /** Whether the directory is part of the container, and not mounted into it. */
  inImage: boolean;
}

/** @returns null if there is nothing to say, or the directory cannot be examined */
export function concernOfPlace(dataDir: string): Concern | null {
  try {
    const inContainer = isInContainer();
    const inImage = inContainer && isInImage(dataDir);
    return inWords(dataDir, { type: statfsSync(dataDir).type, inContainer, inImage });
  } catch {
    return null;
  }
}

export function inWords(dataDir: string, { type, inContainer, inImage }: Place): Concern | null {
  const network = NETWORK.get(type);
  if (network !== undefined)
    return {
      message: `the data directory ${dataDir} is on a network file system (${network}), which cannot be trusted with locks and syncs, and so may lose check-ins or damage the database`,
      remedy: 'keep the data on a local disk or a block device, and copy backups to the network',
      refused: false,
    };
  if (inContainer && (inImage || type === TMPFS))
    return {
      message: `the data directory ${dataDir} is ${inImage ? 'in the container itself' : 'in memory'}: all snitches and keys are lost when the container is recreated`,
      remedy: `mount a volume at ${dataDir}`,
      refused: false,
    };
  return null;
}
