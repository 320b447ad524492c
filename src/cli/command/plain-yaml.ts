/**
 * Reads the few lines of `cli.yaml` and `credentials.yaml` (`name: value`), and the servers that `cli.yaml` names below
 * `servers:`. Loading a YAML library would take longer than everything else that a command does.
 */

import { didYouMean } from '../../text/similar.ts';

export type Settings = Record<string, string>;

export interface CliYaml {
  values: Settings;
  /** The entries below `servers:`, by name, in the order of the file. */
  servers: ReadonlyMap<string, Settings>;
  /** Lines that do nothing, or less than they seem to, each in words without its value, which may be a key. */
  oddities: readonly string[];
}

/** Names that can be typed after `--server` without quotes, and used in a file name. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The server whose address is at the top of the file, as it was before servers had names. */
export const UNNAMED = 'unnamed';

/** @returns what is wrong with a name for a server, in words; null if nothing is */
export function problemOfName(name: string): string | null {
  if (name === UNNAMED) return `"${UNNAMED}" is the name of the server at the top of the file`;
  if (SERVER_NAME.test(name)) return null;
  return 'the name of a server is letters, digits, dots, hyphens and underscores, at most 63, and begins with a letter or digit';
}

/** @throws Error that names the line but never quotes it, because it may hold a key */
export function parseCliYaml(text: string): CliYaml {
  const flat: string[] = [];
  const block: string[] = [];
  let isInServers = false;
  for (const line of linesOf(text)) {
    const isEmpty = EMPTY.test(line);
    if (!isEmpty && !/^\s/.test(line)) isInServers = /^servers:\s*(?:\{\s*\}\s*)?(?:\s#.*)?$/.test(line);
    const isHeading = isInServers && line.startsWith('servers:');
    // Empty lines take their place, so that the numbers of later lines stay right.
    flat.push(isInServers ? '' : line);
    block.push(isInServers && !isHeading ? line : '');
  }
  const values = parseLines(flat);
  const servers = parseServers(block);
  return { values, servers, oddities: odditiesIn(linesOf(text), new Set(servers.keys())) };
}

function parseServers(lines: readonly string[]): Map<string, Settings> {
  const servers = new Map<string, Settings>();
  let present: { depth: number; inner: number | null; settings: Settings } | null = null;
  for (const [index, line] of lines.entries()) {
    if (EMPTY.test(line)) continue;
    const [, indent = '', key = '', rest = ''] =
      /^( +)("[^"\\]+"|'[^']+'|[^\s:#'"]+):(?:\s+(.*))?$/.exec(line) ?? [];
    const name = key.replace(/^(["'])(.*)\1$/, '$2');
    const value = readScalar(rest.trim().replace(/^\{\s*\}/, ''));
    if (present !== null && indent.length > present.depth) {
      const isOwn = present.inner === null || present.inner === indent.length;
      if (!isOwn || name === '' || value === null) throw new Error(NOT_A_LINE(index));
      if (Object.hasOwn(present.settings, name))
        throw new Error(`line ${index + 1} repeats an earlier setting`);
      present.inner = indent.length;
      if (value !== '') present.settings[name] = value;
      continue;
    }
    if (name === '' || value !== '' || (present !== null && indent.length < present.depth)) {
      throw new Error(
        `line ${index + 1} is not of the form NAME:, with url and api_key_file in lines below it`,
      );
    }
    const problem = servers.has(name) ? 'this server is in the file twice' : problemOfName(name);
    if (problem !== null) throw new Error(`line ${index + 1}: ${problem}`);
    present = { depth: indent.length, inner: null, settings: {} };
    servers.set(name, present.settings);
  }
  return servers;
}

const EMPTY = /^\s*(#.*)?$/;
const NOT_A_LINE = (index: number) => `line ${index + 1} is not of the form NAME: VALUE`;

function linesOf(text: string): string[] {
  return text.replace(/^\ufeff/, '').split(/\r?\n/);
}

const OF_A_SERVER = ['url', 'api_key', 'api_key_file', 'admin_key', 'admin_key_file', 'check_in_base'];
const AT_THE_TOP = [...OF_A_SERVER, 'server', 'servers'];

/** @param lines of a file that was understood */
function odditiesIn(lines: readonly string[], servers: ReadonlySet<string>): string[] {
  const odd: string[] = [];
  const seen = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const [, indent = '', name = '', value = ''] = /^(\s*)["']?([^\s"':#]+)["']?:\s*(.*)$/.exec(line) ?? [];
    if (name === '' || (indent !== '' && servers.has(name) && /^(#.*|\{\s*\})?$/.test(value))) continue;
    const where = `line ${index + 1}`;
    const known = indent === '' ? AT_THE_TOP : OF_A_SERVER;
    if (!known.includes(name)) {
      const shown = /^[a-z_]{1,30}$/.test(name) ? `"${name}"` : 'this';
      const kind = indent === '' ? 'no setting' : 'no setting of a server';
      odd.push(`${where}: ${shown} is ${kind}, and does nothing${hintFor(name, known)}`);
    } else if (indent === '' && seen.has(name) && name === 'servers') {
      odd.push(`${where} begins servers once more: put all of them below one line`);
    } else if (indent === '' && seen.has(name) && !/^(#.*)?$/.test(value)) {
      odd.push(`${where} sets ${name} once more: this line counts, not the one before`);
    }
    if (indent === '') seen.add(name);
  }
  return odd;
}

function hintFor(name: string, known: readonly string[]): string {
  const hint = didYouMean(name, known);
  return hint === '' ? '' : `.${hint}`;
}

/** @throws Error that names the line but never quotes it, because it may hold a key */
export function parsePlainYaml(text: string): Settings {
  return parseLines(linesOf(text));
}

function parseLines(lines: readonly string[]): Settings {
  const values: Settings = {};
  for (const [index, line] of lines.entries()) {
    if (EMPTY.test(line) || /^---\s*$/.test(line)) continue;
    const [, name, rest = ''] = /^([a-z_]+):(?:\s+(.*))?$/.exec(line) ?? [];
    const value = name === undefined ? null : readScalar(rest.trim());
    if (name === undefined || value === null) throw new Error(NOT_A_LINE(index));
    if (value !== '') values[name] = value;
  }
  return values;
}

function readScalar(text: string): string | null {
  const single = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(text);
  if (single) return (single[1] ?? '').replaceAll("''", "'");
  const double = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(text);
  if (double) return readQuoted(double[1] ?? '');
  const plain = text.replace(/(^|\s+)#.*$/, '').trimEnd();
  return /^["'[{&*!|>%@`]/.test(plain) ? null : plain;
}

function readQuoted(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}
