/** Checks who besides the daemon can write to its data directory, and whether the daemon may start. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { otherWriters, type Writers } from '../system/access.ts';

/** Everybody can replace the database and the keys, so nothing in the directory can be trusted. */
export class DataDirOpen extends Error {
  override readonly name = 'DataDirOpen';
}

/** Something that is not as it should be, and what to do about it. */
export interface Concern {
  message: string;
  remedy: string;
  /** Whether the daemon refuses to start because of it. */
  refused: boolean;
}

/**
 * No administrator wants every user to be able to replace the files, so the daemon does not start then. Write access
 * for a group, or for an owner who is not the daemon, may be intended and is only mentioned.
 *
 * @returns null if nobody else may write, or if the directory cannot be read, because opening it then says why
 */
export function concernOf(dataDir: string): Concern | null {
  try {
    const { uid } = statSync(dataDir);
    return inWords(otherWriters(dataDir, daemonUser(dataDir)), dataDir, uid);
  } catch {
    return null;
  }
}

function inWords(writers: Writers, dataDir: string, owner: number): Concern | null {
  switch (writers) {
    case 'everybody':
      return {
        message: `every user of this host can write into the data directory ${dataDir}, and so replace the database and the keys`,
        remedy: `\`chmod o-w ${dataDir}\` as its owner or as root; first check that everything in it is your own`,
        refused: true,
      };
    case 'everybody, beside ours':
      return {
        message: `every user of this host can put files into the data directory ${dataDir}`,
        remedy: `\`chmod 700 ${dataDir}\` as its owner or as root, or keep the data in a directory below it`,
        refused: false,
      };
    case 'group':
      return {
        message:
          'the group of the data directory can write into it, and so replace the database and the keys',
        remedy: `unless the whole group may have all keys: \`chmod g-w ${dataDir}\` as its owner or as root`,
        refused: false,
      };
    case 'owner':
      return {
        message: `the data directory belongs to another user (${owner}) than the daemon, who can replace the database and the keys`,
        remedy: `unless that user may have all keys: \`chown\` ${dataDir} to the user of the daemon`,
        refused: false,
      };
    case 'nobody':
      return null;
  }
}

/**
 * The user that the daemon runs as. For root it is the owner of the database, because the daemon may be another
 * user.
 */
function daemonUser(dataDir: string): number {
  const database = statSync(join(dataDir, 'snitch.db'), { throwIfNoEntry: false });
  const uid = process.geteuid?.() ?? 0;
  return uid === 0 ? (database?.uid ?? uid) : uid;
}
