/** Warns of keys in a file that every user can read. */
import { resolve } from 'node:path';
import { isExposed } from '../../system/access.ts';
import { homeOf } from '../command/home.ts';
import { keyFileOf } from '../command/keys.ts';
import type { CliFile } from '../command/settings-files.ts';

/** @returns the files with keys of this user that every user of the host can read: `cli.yaml`, and those that it names */
export function exposedKeyFiles({ path, values, servers }: CliFile): string[] {
  const all = [{ settings: values, isNamed: false }].concat(
    [...servers.values()].map((settings) => ({ settings, isNamed: true })),
  );
  const own = all.some(({ settings }) => settings.api_key || settings.admin_key) ? [path] : [];
  const named = all.flatMap(({ settings, isNamed }) =>
    [settings.api_key_file, settings.admin_key_file]
      .filter((file) => file !== undefined && file !== '')
      .map((file) => resolve(keyFileOf(file ?? '', { path, isNamed, home: homeOf(process.env) }))),
  );
  return [...new Set([...own, ...named])].filter(isExposed);
}
