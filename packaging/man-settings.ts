/** The settings of snitch.yaml(5): what config.example.yaml says of each, and what the program knows of it. */
import { parse } from 'yaml';
import { environmentVariable, PLACES, SETTING_NAMES } from '../src/config/settings.ts';
import { FIXED_SETTINGS } from '../src/daemon/reload.ts';
import { bold, compact, entry, escaped, indented } from './man-roff.ts';

/** Every setting in the order of the file. */
export function settingsText(example: string): string {
  return settingsIn(example).map(describe).join('');
}

interface Setting {
  name: string;
  explanation: string;
  /** As the file has it, when it stands there. */
  byDefault: string | null;
}

/**
 * The settings in the order of the file, each with the comment above it.
 *
 * @throws Error where a setting is missing, is not one, or has no comment
 */
function settingsIn(example: string): Setting[] {
  const comments = commentsIn(example);
  const values: unknown = parse(example);
  const unknown = [...comments.keys()].filter((name) => !PLACES.has(name));
  const silent = SETTING_NAMES.filter((name) => !comments.get(name));
  if (unknown.length > 0)
    throw new Error(`config.example.yaml names what is no setting: ${unknown.join(', ')}`);
  if (silent.length > 0) throw new Error(`config.example.yaml does not explain ${silent.join(', ')}`);
  return [...comments]
    .filter(([name]) => SETTING_NAMES.includes(name))
    .map(([name, explanation]) => ({ name, explanation, byDefault: valueAt(values, name) }));
}

/** The comment right above each name, which an empty line would part from it; '' where there is none. */
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

function describe({ name, explanation, byDefault }: Setting): string {
  const place = PLACES.get(name);
  const allowed = place && 'allowed' in place ? place.allowed : '';
  const facts = [
    ['Value', allowed],
    ['Default', byDefault ?? ''],
    ['Variable', environmentVariable(name)],
    ['Reload', name in FIXED_SETTINGS ? 'changes only with a restart' : ''],
  ] as const;
  const shown = facts.filter(([, text]) => text !== '');
  return [
    entry(bold(name), explanation, 4),
    indented('.sp\n', compact(shown.map(([label, text]) => entry(escaped(label), text, 10)))),
  ].join('');
}
