/** Finds files that root can read and the daemon cannot: root's own check of the configuration finds no fault in them. */
import { type Stats, statSync } from 'node:fs';
import { mayRead } from '../system/access.ts';
import type { Config } from './config.ts';
import type { FileConcern } from './exposed-secrets.ts';
import type { ConfigFile } from './file.ts';

/**
 * The daemon is taken to run as the owner of its data directory. Only root can try what that user may read.
 *
 * @param file null if everything comes from the environment
 */
export function unreadableFiles(
  file: ConfigFile | null,
  { dataDir, secretFiles, store }: Config,
): FileConcern[] {
  const owner = process.getuid?.() === 0 ? ownerOf(dataDir) : null;
  if (owner === null || owner.uid === 0) return [];
  const secrets = [...Object.values(secretFiles), store?.passwordFile ?? null].filter(
    (path) => path !== null,
  );
  const concern = (path: string, remedy: string): FileConcern[] => {
    if (mayRead(path, owner) !== false) return [];
    const message = `the owner of the data directory ${dataDir} (user ${owner.uid}) cannot read ${path}, so a daemon of that user will not start`;
    return [{ message, remedy }];
  };
  return [
    ...(file === null ? [] : concern(file.path, 'let that user read it, and its directory')),
    ...secrets.flatMap((path) =>
      concern(
        path,
        `under systemd, remove the setting and put the secret into /etc/credstore instead; elsewhere \`chown ${owner.uid} ${path}\``,
      ),
    ),
  ];
}

function ownerOf(directory: string): Stats | null {
  try {
    return statSync(directory);
  } catch {
    return null;
  }
}
