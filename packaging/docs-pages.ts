/**
 * Writes the tables in docs/ that are made from the program itself, each between two marks: `npm run build:docs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TASKS } from '../src/cli/catalogue.ts';
import { KEYS } from '../src/tui/model/keys.ts';
import { type Setting, settingsIn } from './man-settings.ts';

const DOCS = join(import.meta.dirname, '../docs');

/** What stands between the marks of each page, by the name of its file and that of the mark. */
const PARTS: Readonly<Record<string, readonly [mark: string, make: () => string]>> = {
  'configuration.md': ['settings', settingsPart],
  'dashboard.md': ['keys', keysPart],
  'command-line.md': ['commands', commandsPart],
};

/** Each page that has such a part, as it should be. */
export function docsPages(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(PARTS).map(([page, [mark, make]]) => [
      page,
      withPart(readFileSync(join(DOCS, page), 'utf8'), mark, make()),
    ]),
  );
}

/** @throws Error where the page does not have the marks */
function withPart(page: string, mark: string, part: string): string {
  const found = new RegExp(`(<!-- ${mark}:[^>]*-->\n)[\\s\\S]*?(<!-- /${mark} -->)`).exec(page);
  const [whole, begin, end] = found ?? [];
  if (whole === undefined) throw new Error(`there is no <!-- ${mark}: … --> with its end in the page`);
  return page.replace(whole, () => `${begin}\n${part}\n${end}`);
}

/** The table for who looks for a name, and behind it what there is to say of each. */
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

/** GitHub and others make it so: without what is no letter, digit, underscore or hyphen. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** What would be read as markup: `<token>` as a tag, and the lists and addresses with marks of their own. */
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

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [page, text] of Object.entries(docsPages())) writeFileSync(join(DOCS, page), text);
}
