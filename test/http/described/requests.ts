/** Requests made from `/openapi.json`: random, some as described and some spoiled, and the same for the same seed. */
import { NASTY_TEXTS, NASTY_VALUES } from '../nasty.ts';

/** A JSON schema, as far as the description uses it. */
export interface Schema {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  type?: string | string[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  prefixItems?: Schema[];
  items?: Schema | false;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  schema: Schema;
}

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>;
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

export interface Described {
  /** The parameters are those of all operations of the path. */
  paths: Record<string, { parameters?: Parameter[] } & Partial<Record<Method, Operation>>>;
  components: { schemas: Record<string, Schema>; responses: Operation['responses'] };
}

/** What the service knows by now. */
export interface Known {
  tokens: string[];
  /** Of everything but snitches. */
  ids: string[];
  now: number;
}

const SUFFIXES = ['start', 'fail', 'log', '0', '1', '255', '256', 'x'];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'];
const CRONS = ['0 3 * * *', '*/5 * * * *', '@daily', '0 0 29 2 *', '0 0 31 2 *', '1-59/2 * * * 1-5'];
const CALENDARS = [
  'daily',
  'Mon..Fri 09:00',
  '*-*-01 00:00:00',
  'Sat *-*-1..7 18:00',
  '*:0/15',
  '2026-01-01',
];
const TEXTS = [
  'nightly',
  'web1',
  'a@example.com',
  'tag:db',
  'äö',
  'x'.repeat(255),
  'a,b',
  '_',
  'bytes',
  '07:30',
];
const URL = 'https://hooks.example.com/x';

const NASTY = [...NASTY_TEXTS, ...NASTY_VALUES];

export class Requests {
  readonly #schemas: Record<string, Schema>;
  readonly #random: () => number;
  readonly #known: Known;

  /** @param random numbers in [0, 1) */
  constructor({ components }: Described, random: () => number, known: Known) {
    this.#schemas = components.schemas;
    this.#random = random;
    this.#known = known;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  /** @param name of the field or parameter that it is for */
  #valueOf(schema: Schema, name = ''): unknown {
    if (schema.$ref) return this.#valueOf(this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return this.pick(schema.enum);
    if (schema.anyOf) return this.#valueOf(this.pick(schema.anyOf), name);
    switch (this.pick([schema.type ?? []].flat())) {
      case 'null':
        return null;
      case 'boolean':
        return this.chance(0.5);
      case 'integer':
        return Math.round(this.#numberOf(schema));
      case 'number':
        return this.#numberOf(schema);
      case 'string':
        return this.#textOf(schema, name);
      case 'array':
        return this.#listOf(schema, name);
      case 'object':
        return this.#objectOf(schema);
      default:
        return this.pick(NASTY);
    }
  }

  #numberOf({ minimum = -10, maximum = 1_000_000 }: Schema): number {
    const length = maximum - minimum;
    return minimum + this.pick([0, length, length * this.#random(), Math.min(100, length) * this.#random()]);
  }

  #textOf({ format, pattern, maxLength }: Schema, name: string): string {
    if (format === 'date-time') return this.#timeOf();
    if (pattern !== undefined) return TEXTS.find((text) => new RegExp(pattern, 'u').test(text)) ?? 'x';
    if (/^tokens?$/.test(name)) return this.pick(this.#known.tokens);
    if (/url|server/.test(name)) return URL;
    if (name === 'timezone') return this.pick(ZONES);
    if (name === 'cron') return this.pick(CRONS);
    if (name === 'calendar') return this.pick(CALENDARS);
    if (/^(alert_email|members)$/.test(name)) return 'a@example.com';
    return this.pick(TEXTS).slice(0, maxLength);
  }

  #timeOf(): string {
    const offset = Math.floor((this.#random() - 0.3) * 1e9);
    return this.pick([new Date(this.#known.now + offset).toISOString(), '2030-01-01T00:00:00+02:00']);
  }

  #listOf({ prefixItems, items, minItems = 0, maxItems = 3 }: Schema, name: string): unknown[] {
    if (prefixItems) return prefixItems.map((one) => this.#valueOf(one, name));
    const length = Math.max(minItems, Math.min(maxItems, Math.floor(this.#random() * 4)));
    return Array.from({ length }, () => this.#valueOf(items || {}, name));
  }

  #objectOf({ properties = {}, required = [], additionalProperties }: Schema): object {
    const share = this.pick([0.1, 0.3, 0.8]);
    const given = Object.entries(properties).filter(
      ([name]) => required.includes(name) || this.chance(share),
    );
    const open = typeof additionalProperties === 'object' ? additionalProperties : null;
    const names = open ? [this.pick(['url', 'token', 'server']), this.pick(['topic', 'key', 'user'])] : [];
    return Object.fromEntries([
      ...given.map(([name, schema]) => [name, this.#valueOf(schema, name)]),
      ...names.map((name) => [name, this.#valueOf(open ?? {}, 'url')]),
    ]);
  }

  /** The same, with one value in it that is missing or of any kind. */
  #spoiled(value: unknown): unknown {
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (names.length === 0 || this.chance(0.15)) return this.pick(NASTY);
    const name = this.pick(names);
    const copy = structuredClone(value) as Record<string, unknown>;
    if (this.chance(0.15) && !Array.isArray(copy)) delete copy[name];
    else copy[name] = this.#spoiled(copy[name]);
    return copy;
  }

  /** With its question mark, or nothing. */
  queryOf({ parameters = [] }: Operation): string {
    const asked = parameters.filter((one) => one.in === 'query' && this.chance(0.4));
    const pairs = asked.map(({ name, schema }) => {
      const value = this.chance(0.2) ? this.pick(NASTY) : this.#valueOf(schema, name);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      // More than this is refused before anybody reads it.
      return [name, text.toWellFormed().slice(0, 1_000)];
    });
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
  }

  /** The path with names in it that mostly exist. */
  pathOf(template: string): string {
    return template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const all = {
        token: this.#known.tokens,
        tag: ['db', 'web1'],
        suffix: SUFFIXES,
        name: ['db', 'new', 'nightly'],
      };
      const text = this.chance(0.08) ? this.pick(['x', '..', '%', 'constructor', '\0']) : undefined;
      return encodeURIComponent(text ?? this.pick(all[name as keyof typeof all] ?? this.#known.ids) ?? 'x');
    });
  }

  /** To be sent as JSON; undefined for none. */
  bodyOf({ requestBody }: Operation): unknown {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema === undefined) return requestBody && { m: 'done', s: 0, values: { bytes: 3 } };
    const body = this.#valueOf(schema);
    return this.chance(0.45) ? this.#spoiled(body) : body;
  }

  /** Bodies as described but for a single text in each, which is `word`. */
  *bodiesWith(word: string, { requestBody }: Operation): Generator<unknown> {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema === undefined) return;
    const body = this.#valueOf(schema);
    for (const place of placesOfTexts(body)) yield replacedAt(body, place, word);
  }
}

/** The names that lead to each text in a value. */
function placesOfTexts(value: unknown): string[][] {
  if (typeof value === 'string') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => placesOfTexts(one).map((place) => [name, ...place]));
}

function replacedAt(value: unknown, [name, ...others]: string[], text: string): unknown {
  if (name === undefined) return text;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replacedAt(copy[name], others, text);
  return copy;
}
