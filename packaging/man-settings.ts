/** The settings of snitch.yaml(5): what config.example.yaml says about each, and what the program knows about it. */
import { parse } from 'yaml';
import { environmentVariable, PLACES, SETTING_NAMES } from '../src/config/settings.ts';
import { FIXED_SETTINGS } from '../src/daemon/reload.ts';
import { bold, compact, entry, escaped, indented } from './man-roff.ts';

/** Every setting in the order of the file. */
export function settingsText(example: string): string {
  return settingsIn(example).map(describe).join('');
}

/** Everything about a setting, for the manual and for docs/configuration.md. */
export interface Setting {
  name: string;
  explanation: string;
  /** Completes the sentence "it must be …". */
  allowed: string;
  /** The default as it is in the file; null if it is not there. */
  byDefault: string | null;
  variable: string;
  /** Whether it changes only with a restart. */
  restart: boolean;
}

/**
 * The settings in the order of the file, each with the comment above it.
 *
 * @throws Error if a setting is missing, unknown or without a comment
 */
export function settingsIn(example: string): Setting[] {
  const comments = commentsIn(example);
  const values: unknown = parse(example);
  const unknown = [...comments.keys()].filter((name) => !PLACES.has(name));
  const silent = SETTING_NAMES.filter((name) => !comments.get(name));
  if (unknown.length > 0)
    throw new Error(`config.example.yaml names what is no setting: ${unknown.join(', ')}`);
  if (silent.length > 0) throw new Error(`config.example.yaml does not explain ${silent.join(', ')}`);
  return [...comments]
    .filter(([name]) => SETTING_NAMES.includes(name))
    .map(([name, explanation]) => ({
      name,
      explanation,
      allowed: allowedAt(name),
      byDefault: valueAt(values, name),
      variable: environmentVariable(name),
      restart: name in FIXED_SETTINGS,
    }));
}

function allowedAt(name: string): string {
  const place = PLACES.get(name);
  return place && 'allowed' in place ? place.allowed : '';
}

/** The comment right above each name; '' if there is none. An empty line in between separates them. */
function commentsIn(example: string): Map<string, string> {
  const found = new Map<string, string>();
  let comment: string[] = [];
  let sectionName = '';
  for (const text of example.split('\n')) {
    const [, words] = /^\s*# ?(.*)$/.exec(text) ?? [];
    if (words !== undefined) {
      comment.push(words);
      continue;
    }
    const [, indent = '', key] = /^(\s*)([a-z_]+):/.exec(text) ?? [];
    if (key !== undefined) {
      if (indent === '') sectionName = key;
      found.set(indent === '' ? key : `${sectionName}.${key}`, comment.join(' '));
    }
    comment = [];
  }
  return found;
}

function valueAt(values: unknown, name: string): string | null {
  const value = name
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], values);
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function describe({ name, explanation, allowed, byDefault, variable, restart }: Setting): string {
  const facts = [
    ['Value', allowed],
    ['Default', byDefault ?? ''],
    ['Variable', variable],
    ['Reload', restart ? 'changes only with a restart' : ''],
  ] as const;
  const shown = facts.filter(([, text]) => text !== '');
  return [
    entry(bold(name), explanation, 4),
    indented('.sp\n', compact(shown.map(([label, text]) => entry(escaped(label), text, 10)))),
  ].join('');
}
