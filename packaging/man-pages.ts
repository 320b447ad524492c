/**
 * Writes the pages of the manual, snitch(1) and snitch.yaml(5), from the sources of the program:
 * `node --import tsx packaging/man-pages.ts DIRECTORY`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationPage } from './man-configuration.ts';
import { snitchPage } from './man-snitch.ts';

const ROOT = join(import.meta.dirname, '..');

/** The source of each page by the name of its file. */
export function manPages(): Readonly<Record<string, string>> {
  const source = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const { version } = JSON.parse(source('package.json')) as { version: string };
  return {
    'snitch.1': snitchPage(version),
    'snitch.yaml.5': configurationPage(version, {
      example: source('config.example.yaml'),
      service: source('packaging/snitch.service'),
      socket: source('packaging/snitch.socket'),
    }),
  };
}

/** @param directory which must exist */
export function writeManPages(directory: string): void {
  for (const [name, page] of Object.entries(manPages())) writeFileSync(join(directory, name), page);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('usage: man-pages.ts DIRECTORY');
  writeManPages(directory);
}
