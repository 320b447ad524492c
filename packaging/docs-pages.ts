/**
 * Writes the tables in docs/ that are made from the program itself, each between two marks: `npm run build:docs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TASKS } from '../src/cli/catalogue.ts';
import { Metrics } from '../src/http/metrics/metrics.ts';
import { SNITCH_FAMILIES } from '../src/http/metrics/snitch-series.ts';
import { KEYS } from '../src/tui/model/keys.ts';
import { type Setting, settingsIn } from './man-settings.ts';

const DOCS = join(import.meta.dirname, '../docs');

/** For each page, by the name of its file: the name of its mark, and what goes between the two marks. */
const PARTS: Readonly<Record<string, readonly [mark: string, make: () => string]>> = {
  'configuration.md': ['settings', settingsPart],
  'dashboard.md': ['keys', keysPart],
  'command-line.md': ['commands', commandsPart],
  'monitoring.md': ['metrics', metricsPart],
};

/** The up-to-date text of each page that has such a part. */
export function docsPages(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(PARTS).map(([page, [mark, make]]) => [
      page,
      withPart(readFileSync(join(DOCS, page), 'utf8'), mark, make()),
    ]),
  );
}

/** @throws Error if the page does not have the marks */
function withPart(page: string, mark: string, part: string): string {
  const found = new RegExp(`(<!-- ${mark}:[^>]*-->\n)[\\s\\S]*?(<!-- /${mark} -->)`).exec(page);
  const [whole, begin, end] = found ?? [];
  if (whole === undefined) throw new Error(`there is no <!-- ${mark}: … --> with its end in the page`);
  return page.replace(whole, () => `${begin}\n${part}\n${end}`);
}

/** A table of all names, followed by what there is to say about each. */
function settingsPart(): string {
  const settings = settingsIn(readFileSync(join(DOCS, '../config.example.yaml'), 'utf8'));
  const rows = settings.map(({ name, variable, byDefault }) => [
    `[\`${name}\`](#${anchorOf(name)})`,
    `\`${variable}\``,
    byDefault === null ? 'see below' : `\`${byDefault}\``,
  ]);
  return [
    `## All settings\n\n${table(['Setting', 'Variable', 'Default'], rows)}`,
    `## Each setting\n\n${settings.map(describeSetting).join('\n\n')}`,
    '',
  ].join('\n\n');
}

function describeSetting({ name, explanation, allowed, byDefault, restart }: Setting): string {
  const facts = [
    `It must be ${protect(allowed)}.`,
    byDefault === null ? '' : `The default is \`${byDefault}\`.`,
    restart ? 'It changes only with a restart.' : '',
  ];
  return `### ${name}\n\n${protect(explanation)}\n\n${facts.filter((fact) => fact !== '').join(' ')}`;
}

/** Makes an anchor the way GitHub and others do: only letters, digits, underscores and hyphens. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Escapes what would be read as markup, such as `<token>` as a tag. */
function protect(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('*', '\\*');
}

const SCREENS: Readonly<Record<keyof typeof KEYS, string>> = {
  table: 'In the table',
  detail: 'On one snitch',
  alerts: 'On alerts and deliveries',
};

function keysPart(): string {
  const tables = Object.entries(SCREENS).map(([screen, title]) => {
    const rows = KEYS[screen as keyof typeof KEYS].map(({ show, help }) => [
      show
        .split(' ')
        .map((key) => `\`${key}\``)
        .join(' '),
      help,
    ]);
    return table(['Key', title], rows);
  });
  return `${tables.join('\n\n')}\n`;
}

function commandsPart(): string {
  const rows = TASKS.flatMap(({ title, entries }) =>
    entries.map(({ name, summary }, index) => [index === 0 ? title : '', `\`snitch ${name}\``, summary]),
  );
  return `${table(['To', 'Command', 'What it does'], rows)}\n`;
}

function metricsPart(): string {
  const ofServer = new Metrics()
    .families()
    .map(({ name, type, help }) => [`\`${name}\``, type, protect(help)]);
  const ofSnitches = SNITCH_FAMILIES.map(({ name, help }) => [`\`${name}\``, 'gauge', protect(help)]);
  const titles = ['Metric', 'Type', 'Meaning'];
  return [
    `### Of each snitch, at /v1/metrics\n\n${table(titles, ofSnitches)}`,
    `### Of the server, at /metrics\n\n${table(
      titles,
      ofServer.toSorted(([one = ''], [other = '']) => one.localeCompare(other)),
    )}`,
    '',
  ].join('\n\n');
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [page, text] of Object.entries(docsPages())) writeFileSync(join(DOCS, page), text);
}
