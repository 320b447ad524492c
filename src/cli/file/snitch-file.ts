/**
 * Reads a YAML file of snitches, and remembers the line of everything in it. The server checks the values. This module
 * checks what the server never sees: the form of the file, unknown fields, and duplicate entries.
 */
import { basename } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { didYouMean } from '../../text/similar.ts';
import { Failure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { findAliases } from './aliases.ts';
import { DUE_FIELDS } from './due-fields.ts';
import { RUN_FIELDS } from './run-fields.ts';
import { entryOf, type FileEntry, type MapOfFile } from './snitch-entry.ts';
import { type Chunk, partsOf } from './snitch-file-parts.ts';
import { checkWhole, readText } from './snitch-file-text.ts';

/** More would push the first ones off the screen. */
const SHOWN_PROBLEMS = 20;

/** What is wrong with a file. Each problem is one line that begins with its place in the file. */
export class SnitchFileError extends Failure {
  /** The lines that are shown: the first problems, how many more there are, and advice. */
  readonly problems: readonly string[];

  /** @param advice lines that help with several of the problems */
  constructor(problems: readonly string[], advice: readonly string[] = []) {
    const more = problems.length - SHOWN_PROBLEMS;
    const rest = more > 0 ? [`and ${countOf(more, 'more problem', 'more problems')}`] : [];
    const shown = [...problems.slice(0, SHOWN_PROBLEMS), ...rest, ...advice];
    super(shown.join('\n'));
    this.problems = shown;
  }
}

export interface SnitchFile {
  path: string;
  /** The owner of all entries that name none themselves; null if the file says `owner: null`. */
  owner: string | null;
  /** False if the owner is only the name of the file, so that a file that is moved has another owner. */
  namesOwner: boolean;
  /** Settings of the case; null if the file leaves them alone. */
  settings: MapOfFile | null;
  /** Null if the file leaves the channels alone. */
  channels: readonly MapOfFile[] | null;
  entries: readonly FileEntry[];
}

const TOP = ['owner', 'case', 'channels', 'snitches'];
const CASE_FIELDS = ['name', 'timezone', 'members', 'reminders'];
const CHANNEL_FIELDS = ['kind', 'name', 'settings', 'secret_file', 'events', 'tags', 'after', 'hours'];
const SNITCH_FIELDS = [
  'name',
  'public_name',
  'interval',
  ...DUE_FIELDS,
  ...RUN_FIELDS,
  'needs',
  'alert_type',
  'alert_email',
  'notes',
  'tags',
  'token',
  'owner',
];

/** @throws SnitchFileError with everything that is wrong, Failure if the file cannot be read */
export function readSnitchFile(path: string): SnitchFile {
  return parseSnitchFile(path === '-' ? 'stdin' : path, readText(path));
}

export function parseSnitchFile(path: string, text: string): SnitchFile {
  const parts = partsOf(text);
  if (parts === null) checkWhole(path, text);
  const reader = new Reader(path, parts?.head ?? text);
  const file = reader.read();
  const problems = [...reader.problems];
  const entries = [...file.entries];
  for (const chunk of reader.problems.length === 0 ? (parts?.chunks ?? []) : []) {
    const part = new Reader(path, chunk.text, chunk);
    for (const entry of part.readEntries(file.owner)) entries.push(entry);
    problems.push(...part.problems);
  }
  problems.push(...repetitions(path, entries));
  if (problems.length > 0) throw new SnitchFileError(problems);
  return { ...file, entries };
}

/** Entries that mean the same snitch. */
function repetitions(path: string, entries: readonly FileEntry[]): string[] {
  const problems: string[] = [];
  const seen = new Map<string, number>();
  for (const { input, owner, line, lines } of entries) {
    const byToken = input.token !== undefined && input.token !== null;
    const field = byToken ? 'token' : 'name';
    const key = JSON.stringify([field, String(input[field]), byToken ? null : owner]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, line);
    else {
      const advice = byToken ? '' : ': give each its token, or another name';
      problems.push(
        problemAt(path, lines[field] ?? line, `${field}: is the same as in line ${first}${advice}`),
      );
    }
  }
  return problems;
}

/** `snitches.yaml:12: …` */
export function problemAt(path: string, line: number, message: string): string {
  return `${path}:${line}: ${message}`;
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

const ANOTHER_DOCUMENT =
  'another document begins here, and only the first would be read: write one file, without ---';

const WHOLE = { index: 0, from: 1, shift: 0 };

class Reader {
  readonly problems: string[] = [];
  readonly #path: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;
  /** Where further documents begin, which nobody would read. */
  readonly #others: readonly number[];
  readonly #chunk: Pick<Chunk, 'index' | 'from' | 'shift'>;

  constructor(path: string, text: string, chunk: Pick<Chunk, 'index' | 'from' | 'shift'> = WHOLE) {
    this.#path = path;
    this.#chunk = chunk;
    const options = {
      lineCounter: this.#lines,
      prettyErrors: false,
      logLevel: 'silent',
      merge: true,
    } as const;
    const [document = parseDocument(text, options), ...others] = parseAllDocuments(text, options);
    this.#document = document;
    this.#others = others.flatMap(({ contents }) => (isEmpty(contents) ? [] : (contents?.range?.[0] ?? [])));
    if (text.includes('&')) findAliases(this.#document);
  }

  read(): SnitchFile {
    const { contents } = this.#document;
    this.#refuseInvalid();
    const empty: SnitchFile = {
      path: this.#path,
      owner: null,
      namesOwner: false,
      settings: null,
      channels: null,
      entries: [],
    };
    if (this.problems.length > 0) return empty;
    const top = this.#entry(contents, 'the file', TOP);
    if (!top) return empty;
    const owner = this.#owner(top, basename(this.#path).replace(/\.ya?ml$/i, ''));
    const snitches = isMap(contents) ? contents.get('snitches', true) : null;
    const section = (name: string) =>
      isMap(contents) && contents.has(name) ? contents.get(name, true) : null;
    const [settings, channels] = [section('case'), section('channels')];
    if (snitches === undefined) this.#refuse(top.line, 'snitches: is missing: write a list, `[]` for none');
    const entries = this.#snitches(snitches, owner);
    return {
      path: this.#path,
      owner,
      namesOwner: 'owner' in top.input,
      settings: settings === null ? null : this.#entry(settings, 'case', CASE_FIELDS),
      channels: channels === null ? null : this.#list('channels', channels, CHANNEL_FIELDS),
      entries,
    };
  }

  /** Reads the entries of a chunk. */
  readEntries(owner: string | null): FileEntry[] {
    const { contents } = this.#document;
    this.#refuseInvalid();
    const snitches = isMap(contents) ? contents.get('snitches', true) : null;
    return this.problems.length > 0 ? [] : this.#snitches(snitches, owner);
  }

  #refuseInvalid(): void {
    const { errors, warnings } = this.#document;
    for (const { pos, message } of [...errors, ...warnings]) {
      this.#refuse(this.#lineAt(pos[0]), `not valid YAML: ${message.split('\n', 1)[0]}`);
    }
    for (const offset of this.#others) this.#refuse(this.#lineAt(offset), ANOTHER_DOCUMENT);
  }

  #owner({ input, line, lines }: MapOfFile, otherwise: string | null): string | null {
    const { owner = otherwise } = input;
    if (owner === null) return null;
    if (typeof owner === 'string' && owner.trim() !== '' && owner.length <= 100 && !/\p{Cc}/u.test(owner)) {
      return owner;
    }
    this.#refuse(lines.owner ?? line, 'owner: must be a name of at most 100 characters, or null for none');
    return null;
  }

  #snitches(given: unknown, ownerOfFile: string | null): FileEntry[] {
    const entries = this.#list('snitches', given, SNITCH_FIELDS, this.#chunk.index);
    return entries.map((entry) => entryOf(entry, this.#owner(entry, ownerOfFile)));
  }

  /** @param from the position of its first entry in the whole list */
  #list(name: string, given: unknown, fields: readonly string[], from = 0): MapOfFile[] {
    const list = this.#resolve(given);
    if (isScalar(list) && list.value === null) return [];
    if (!isSeq(list)) {
      if (list !== undefined) this.#refuse(this.#lineOf(list), `${name}: must be a list`);
      return [];
    }
    return list.items
      .map((item, index) => this.#entry(item, `${name}[${from + index}]`, fields, this.#lineOf(list)))
      .filter((entry) => entry !== null);
  }

  /** Reads a map with the lines of its fields. Anything else is a problem, and null. */
  #entry(given: unknown, where: string, fields: readonly string[], parentLine = 1): MapOfFile | null {
    const map = this.#resolve(given);
    const line = this.#lineOf(given, parentLine);
    if (!isMap(map)) {
      this.#refuse(line, `${where}: must hold "name: value" lines`);
      return null;
    }
    const lines: Record<string, number> = {};
    for (const { key } of map.items) {
      const name = isScalar(key) ? String(key.value) : '?';
      lines[name] = this.#lineOf(key, line);
    }
    const input = fields === TOP ? this.#scalarsOf(map) : this.#valuesOf(map, line);
    for (const name of Object.keys(input)) {
      // Fields whose names begin with x- are free for what several entries share (`x-defaults: &defaults`).
      if (fields.includes(name) || (fields === TOP && name.startsWith('x-'))) continue;
      const meant = didYouMean(name, fields);
      this.#refuse(lines[name] ?? line, `${where}: ${name}: there is no such field.${meant}`);
    }
    return { input, line, lines };
  }

  /** The fields of the file itself. Its lists are not expanded, because thousands of entries may share a value. */
  #scalarsOf(map: YAMLMap): Record<string, unknown> {
    const fields = map.items.map(({ key, value }) => {
      const node = this.#resolve(value);
      return [isScalar(key) ? String(key.value) : '?', isScalar(node) ? node.value : node] as const;
    });
    return Object.fromEntries(fields);
  }

  #valuesOf(map: { toJS(document: Document): unknown }, line: number): Record<string, unknown> {
    try {
      return map.toJS(this.#document) as Record<string, unknown>;
    } catch (error) {
      this.#refuse(line, `not valid YAML: ${error instanceof Error ? error.message : String(error)}`);
      return {};
    }
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #lineOf(node: unknown, otherwise = 1): number {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? otherwise : this.#lineAt(offset);
  }

  #lineAt(offset: number): number {
    const { line } = this.#lines.linePos(offset);
    return line < this.#chunk.from ? line : line + this.#chunk.shift;
  }

  #refuse(line: number, message: string): void {
    this.problems.push(problemAt(this.#path, line, message));
  }
}
