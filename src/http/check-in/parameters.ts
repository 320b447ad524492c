/** What a check-in says about itself: in its query, a form or a JSON body, whatever the Content-Type says. */
import type { IncomingMessage } from 'node:http';
import { isObject } from '../../core/input.ts';
import { NO_VALUES, type ReadValues, readValues } from '../../core/judgement/values.ts';
import { parseTimestamp } from '../../core/validation.ts';
import { WEEK } from '../../text/durations.ts';
import { walkStructure } from '../endpoint/json-structure.ts';
import { type CheckInBody, NO_BODY, readBody } from './body.ts';

export interface CheckInParameters {
  /** `m`, at most 256 characters. */
  message: string | null;
  /** `s` as it was given. */
  exit: string | null;
  /** `rid` in lower case, if it is a UUID. */
  runId: string | null;
  /** Whether there is a `rid` at all. */
  isRun: boolean;
  /** `at` of the query: when the job checked in, if that is given and credible. */
  at: number | null;
  /** What the job printed: the body, if it contains no parameters. */
  output: string | null;
  /** `v.<name>`, or `values` in JSON. */
  reported: ReadValues;
  /** Whether the body has more than what was read of it. */
  bodyGoesOn: boolean;
}

const MESSAGE_LENGTH = 256;

/** How far back a check-in that is reported late may lie, in milliseconds. */
const LATEST = WEEK;

export const NOTHING_SAID: CheckInParameters = {
  message: null,
  exit: null,
  runId: null,
  isRun: false,
  at: null,
  output: null,
  reported: NO_VALUES,
  bodyGoesOn: false,
};

export interface Asked {
  /** Without the question mark. */
  query: string;
  /** Whether the address has a suffix. Then what a job prints must never be mistaken for parameters. */
  hasSuffix: boolean;
  now: number;
}

/** Whether there is neither a query nor a body, as with most jobs: then there is nothing to wait for. */
export function saysNothing(request: IncomingMessage, query: string): boolean {
  return query === '' && !mayHaveBody(request);
}

/** Never fails: what cannot be read is left out, and the check-in counts. The query wins over the body. */
export async function readParameters(
  request: IncomingMessage,
  { query, hasSuffix, now }: Asked,
): Promise<CheckInParameters> {
  const hasBody = mayHaveBody(request);
  const asked = givenIn(new URLSearchParams(query));
  const body = hasBody ? await readBody(request) : NO_BODY;
  const isOutput = hasSuffix || asked.rid !== undefined;
  const told = isOutput ? null : fromBody(body, request.headers['content-type'] ?? '');
  const rid = asked.rid ?? told?.rid;
  return {
    message: shorten(asked.m ?? told?.m),
    exit: asked.s ?? told?.s ?? null,
    runId: runId(rid),
    isRun: rid !== undefined,
    at: query === '' ? null : momentIn(query, now),
    output: body.kept === '' || told !== null ? null : body.kept,
    reported: reportedBy(asked.values, told?.values),
    bodyGoesOn: body.goesOn,
  };
}

interface Given {
  m?: string;
  s?: string;
  rid?: string;
  /** In the order in which they were given; names without `v.`. */
  values?: ToldValue[];
}

type ToldValue = readonly [name: string, value: unknown];

const NAMES = ['m', 's', 'rid'] as const;

/** The prefix of a reported value's name in a query or a form. */
const VALUE = 'v.';

/** How many values are read: more than are kept, so the surplus can be reported. */
const MOST_TOLD = 50;

function reportedBy(asked: readonly ToldValue[] = [], told: readonly ToldValue[] = []): ReadValues {
  return asked.length + told.length === 0 ? NO_VALUES : readValues([...asked, ...told].slice(0, MOST_TOLD));
}

/** Whether a field is one of ours. Names of values begin with `v.`. */
function isOurs(name: string): boolean {
  return (NAMES as readonly string[]).includes(name) || name.startsWith(VALUE);
}

function mayHaveBody({ method, headers }: IncomingMessage): boolean {
  if (method !== 'POST' && method !== 'PUT') return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** The parameters in a body, or null if it is what the job printed. */
function fromBody({ text }: CheckInBody, contentType: string): Given | null {
  return fromForm(text) ?? fromJson(text) ?? fromMultipart(text, contentType);
}

/**
 * A form is one line whose first key is one of ours. A trailing line break, added by a shell, belongs to no value. If
 * any other key comes first, the text is an address, a log line or a report that the job printed.
 */
function fromForm(text: string): Given | null {
  const line = text.replace(/^[ \t]+/, '').trimEnd();
  const end = line.indexOf('=');
  if (end < 1 || !isOurs(line.slice(0, end)) || /[\r\n]/.test(line)) return null;
  return givenIn(new URLSearchParams(ownPairs(line).join('&')));
}

/** More than any client sends. A body of nothing but ampersands is not searched to its end. */
const MOST_PAIRS = 10_000;

/** Longer names are cut before they are compared. */
const LONGEST_NAME = 100;

/** The first pair of each of our names, and of as many values as are read. */
function ownPairs(line: string): string[] {
  const found = new Map<string, string>();
  let values = 0;
  let start = 0;
  for (let count = 0; count < MOST_PAIRS && start < line.length; count += 1) {
    const next = line.indexOf('&', start);
    const end = next < 0 ? line.length : next;
    const [name = ''] = line.slice(start, Math.min(end, start + LONGEST_NAME)).split('=', 1);
    const isValue = name.startsWith(VALUE);
    const isWanted = isValue ? values < MOST_TOLD : (NAMES as readonly string[]).includes(name);
    if (isWanted && !found.has(name)) {
      found.set(name, line.slice(start, end));
      if (isValue) values += 1;
    }
    start = end + 1;
  }
  return [...found.values()];
}

function givenIn(parameters: URLSearchParams): Given {
  const given: Given = {};
  for (const name of NAMES) {
    const value = parameters.get(name);
    if (value !== null) given[name] = value;
  }
  for (const [name, value] of parameters) {
    if (name.startsWith(VALUE)) addValue(given, name, value);
  }
  return given;
}

function addValue(given: Given, name: string, value: string): void {
  given.values ??= [];
  if (given.values.length < MOST_TOLD) given.values.push([name.slice(VALUE.length), value]);
}

/**
 * An object has parameters only if all of its keys are ours and all values are plain; reported values are in an object
 * of their own, `values`. Any other object is output of the job.
 */
function fromJson(text: string): Given | null {
  if (!text.trimStart().startsWith('{') || !isFlat(text)) return null;
  const entries = entriesOf(text);
  if (!entries?.every(isOwnEntry)) return null;
  const given: Given = {};
  for (const [name, value] of entries) {
    const own = NAMES.find((one) => one === name);
    if (own && value !== null) given[own] = String(value);
    if (name.startsWith(VALUE) && value !== null) addValue(given, name, String(value));
    if (name === VALUES && isObject(value)) {
      given.values = [...(given.values ?? []), ...Object.entries(value)].slice(0, MOST_TOLD);
    }
  }
  return given;
}

/** The JSON key of the reported values. */
const VALUES = 'values';

function isOwnEntry([name, value]: [string, unknown]): boolean {
  if (name === VALUES) return value === null || (isObject(value) && Object.values(value).every(isPlain));
  return isOurs(name) && isPlain(value);
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** More keys than any client sends, including all values. */
const MOST_KEYS = 1_000;

/** Whether a text can be one object of a few values, with one object inside, so no long text is parsed for nothing. */
function isFlat(text: string): boolean {
  let depth = 0;
  let commas = 0;
  return walkStructure(text, (character) => {
    if (character === ',') commas += 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    return depth <= 2 && commas < MOST_KEYS;
  });
}

function entriesOf(text: string): [string, unknown][] | null {
  try {
    return Object.entries(JSON.parse(text) as object);
  } catch {
    return null;
  }
}

/** The form that `curl -F` sends: the Content-Type names the separator of its parts, and the first part is ours. */
function fromMultipart(text: string, contentType: string): Given | null {
  const named = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  const separator = `--${named?.[1] ?? named?.[2]}`;
  if (named === null || !text.startsWith(separator)) return null;
  const given: Given = {};
  let first: string | undefined;
  for (const part of text.split(separator).slice(1)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const name = /;\s*name="?([^";\r\n]+)/.exec(head)?.[1];
    first ??= name;
    const own = NAMES.find((one) => one === name);
    const value = rest.join('\r\n\r\n').replace(/\r\n$/, '');
    if (own) given[own] ??= value;
    if (name?.startsWith(VALUE)) addValue(given, name, value);
  }
  return first !== undefined && isOurs(first) ? given : null;
}

/** Cut between characters, never within one. */
function shorten(message: string | undefined): string | null {
  if (message === undefined || message === '') return null;
  const characters = [...message.toWellFormed().slice(0, 2 * MESSAGE_LENGTH)];
  return characters.slice(0, MESSAGE_LENGTH).join('').toWellFormed();
}

/** The time of a check-in that is reported late because the service was away. A time in the future does not count. */
function momentIn(query: string, now: number): number | null {
  const at = parseTimestamp(new URLSearchParams(query).get('at') ?? '');
  return at !== null && at <= now && now - at <= LATEST ? at : null;
}

function runId(given: string | undefined): string | null {
  return given && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given) ? given.toLowerCase() : null;
}
