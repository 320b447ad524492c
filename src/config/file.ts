/** Finds the configuration file and reads its YAML, and knows the line of each setting. */

import { join } from 'node:path';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseAllDocuments,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { LARGEST_SETTINGS, readWholeMeanwhile, Unreadable } from '../system/reading.ts';

export { stringify as formatYaml } from 'yaml';

/** The configuration cannot be used. Every problem is listed, each in one line that is safe to show. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export interface ConfigSource {
  /** A file named by the caller; it must exist. */
  file?: string | undefined;
  env: NodeJS.ProcessEnv;
}

export interface ConfigFile {
  path: string;
  /** The content of the file as plain data, without what it leaves empty. */
  values: Record<string, unknown>;
  /** The line of the setting, or of the key in its section. */
  lineOf(path: readonly PropertyKey[], key?: string): number | null;
  /** What is probably a mistake in it, and keeps nothing from working. */
  warnings: readonly string[];
}

/**
 * Reads the file that was named, else SNITCH_CONFIG, else the file of the systemd unit, else the one in /etc.
 *
 * @returns null if no file was named and there is none in the usual places
 * @throws ConfigError when the file cannot be read, or is not YAML
 */
export async function readConfigFile({ file, env }: ConfigSource): Promise<ConfigFile | null> {
  const named = file ?? (env.SNITCH_CONFIG || undefined);
  if (named !== undefined) return parseConfigFile(named, await readText(named));
  for (const path of usualPlaces(env)) {
    const bytes = await readText(path, { optional: true });
    if (bytes !== null) return parseConfigFile(path, bytes);
  }
  return null;
}

function usualPlaces(env: NodeJS.ProcessEnv): string[] {
  const directory = firstDirectory(env.CONFIGURATION_DIRECTORY);
  return [...(directory ? [join(directory, 'config.yaml')] : []), '/etc/snitch/config.yaml'];
}

/** systemd separates several directories by colons. */
export function firstDirectory(list: string | undefined): string | undefined {
  return list?.split(':')[0] || undefined;
}

async function readText(path: string): Promise<string>;
async function readText(path: string, options: { optional: true }): Promise<string | null>;
async function readText(path: string, { optional = false } = {}): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readWholeMeanwhile(path, LARGEST_SETTINGS));
  } catch (error) {
    if (error instanceof Unreadable)
      throw new ConfigError([`${path}: cannot read the file: ${error.message}`]);
    if (error instanceof TypeError) throw new ConfigError([`${path}: the file is not UTF-8 text`]);
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (optional && (code === 'ENOENT' || code === 'ENOTDIR')) return null;
    throw new ConfigError([`${path}: cannot read the file: ${REASONS[code] ?? code}`]);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

function parseConfigFile(path: string, text: string): ConfigFile {
  const lines = new LineCounter();
  // Pretty errors would quote the faulty line, which may contain a password.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'silent' } as const;
  const [document = parseDocument(text, options), ...others] = parseAllDocuments(text, options);
  const faults = [...document.errors, ...document.warnings];
  const further = others.flatMap((one) => (isEmpty(one) ? [] : (one.contents?.range?.[0] ?? [])));
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => describeFault(path, lines, fault)));
  return {
    path,
    values: readValues(path, document),
    lineOf: (at, key) => {
      const offset = key === undefined ? offsetOf(document, at) : offsetOfKey(document, at, key);
      return offset === null ? null : lines.linePos(offset).line;
    },
    // Earlier builds said nothing: a daemon that has started with such a file must start after an upgrade too.
    warnings: further.map((offset) => `${placeOf(path, lines, offset)}: ${ANOTHER_DOCUMENT}`),
  };
}

const ANOTHER_DOCUMENT =
  'another document begins here, and only the first is read: write one document, without ---';

function describeFault(path: string, lines: LineCounter, fault: YAMLError): string {
  return `${placeOf(path, lines, fault.pos[0])}: not valid YAML: ${withoutQuotedText(fault.message)}`;
}

function placeOf(path: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${path}:${line}:${col}`;
}

/** After a colon, and in escapes, the parser quotes the file. */
function withoutQuotedText(message: string): string {
  return message.replace(/(?<=\w): .*$/s, '').replace(/^(Invalid escape sequence).*$/s, '$1');
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function readValues(path: string, document: Document): Record<string, unknown> {
  if (isEmpty(document)) return {};
  if (!isMap(document.contents)) throw new ConfigError([`${path}: the file must hold "name: value" lines`]);
  try {
    return withoutEmpty(document.toJS()) as Record<string, unknown>;
  } catch {
    throw new ConfigError([`${path}: not valid YAML: an alias (*name) that cannot be resolved`]);
  }
}

/** A name without a value means the default, so all lines of a section can be commented out. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutEmpty(inner)]));
}

function offsetOf(document: Document, path: readonly PropertyKey[]): number | null {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

function offsetOfKey(document: Document, section: readonly PropertyKey[], key: string): number | null {
  const map = section.length === 0 ? document.contents : document.getIn(section, true);
  if (!isMap(map)) return null;
  const pair = map.items.find(({ key: found }) => isScalar(found) && String(found.value) === key);
  return isNode(pair?.key) ? (pair.key.range?.[0] ?? null) : null;
}
