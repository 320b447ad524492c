/** What the store answers, in one line: of things that have an id, only what is new since they were last shown. */
import { inOneLine } from '../../kept-text.ts';
import { Differences } from './differences.ts';
import type { Names } from './names.ts';

type Fields = Record<string, unknown>;

export class Answers {
  readonly #names: Names;
  readonly #differences = new Differences();

  constructor(names: Names) {
    this.#names = names;
  }

  /** What the store was asked: a field that is null says nothing more. */
  asked(given: readonly unknown[], now: number): string {
    const texts = given.map((one) => this.#plain(withoutNulls(one)));
    return this.#names.in(shortened(texts.join(', '), now));
  }

  inOneLine(answer: unknown, now: number): string {
    return shortened(this.#show(numbered(answer, this.#names)), now);
  }

  /** As it is, without looking for differences. */
  #plain(value: unknown): string {
    return this.#names.in(inOneLine(value) ?? 'nothing');
  }

  #show(value: unknown): string {
    if (value instanceof Set) return `{${[...value].sort().join(' ')}}`;
    if (Array.isArray(value)) return `[${value.map((one) => this.#show(one)).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return this.#plain(value);
    const fields = value as Fields;
    const id = fields.id ?? fields.token;
    if (id !== undefined) return this.#showThing(String(id), fields);
    const parts = Object.entries(fields).map(([name, part]) => `${name} ${this.#show(part)}`);
    return `{${this.#names.in(parts.join(', '))}}`;
  }

  #showThing(id: string, fields: Fields): string {
    const texts = new Map(flattened(fields).map(([name, value]) => [name, this.#plain(value)]));
    const { changed } = this.#differences.of([...texts.keys()].join(), id, texts);
    const own = changed.filter((field) => !field.startsWith('id ') && !field.startsWith('token '));
    return `${this.#names.in(id)}${own.length > 0 ? `{${own.join(', ')}}` : ''}`;
  }
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null));
}

/** JSON without what people do not need to read it: of the times of a day, only those of another one tell which. */
export function shortened(json: string, now: number): string {
  const present = new Date(now).toISOString();
  return json
    .replaceAll(`"${present}"`, 'now')
    .replaceAll(present.slice(0, 11), '')
    .replace(/(?::00)?\.000Z/g, 'Z')
    .replace(/"(\w+)":/g, '$1 ')
    .replace(/"([\w.:-]+)"/g, '$1');
}

/** Plain objects and arrays, with names in place of the numbers of rows, which are of different kinds. */
function numbered(value: unknown, names: Names): unknown {
  if (value instanceof Map) return numbered(Object.fromEntries(value as Map<string, unknown>), names);
  if (Array.isArray(value)) return value.map((one: unknown) => numbered(one, names));
  if (typeof value !== 'object' || value === null || value instanceof Set) return value;
  const fields = value as Fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, part]) => {
      const kind = kindOf(name, fields);
      return [name, kind && typeof part === 'number' ? names.ofRow(kind, part) : numbered(part, names)];
    }),
  );
}

/** Which numbers a field of a thing has; null if it has none. */
function kindOf(name: string, fields: Fields): string | null {
  if (name === 'next' || (name === 'by' && 'wellSince' in fields)) return 'snitch';
  if (name !== 'id') return null;
  if ('alertId' in fields || 'fence' in fields) return 'delivery';
  if ('outcome' in fields) return 'check-in';
  if ('action' in fields) return 'entry';
  if ('slug' in fields) return 'page';
  return 'name' in fields || 'lookAt' in fields ? 'snitch' : null;
}

/** What an alert or a snitch consists of: often only one of their fields differs. */
const PARTS = ['state', 'details', 'alert', 'about'];

/** The fields of a thing and of its parts, by paths such as `state.status`. */
function flattened(fields: Fields, path = ''): [string, unknown][] {
  return Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return [];
    return PARTS.includes(name) && typeof value === 'object' && value !== null
      ? flattened(value as Fields, `${path}${name}.`)
      : [[`${path}${name}`, value]];
  });
}
