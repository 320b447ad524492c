/** What snitch(1) says about each command. */
import { TASKS } from '../src/cli/catalogue.ts';
import { type Definition, type OptionText, type Parameter, readDefinitions } from './man-definitions.ts';
import { fitExamples, fitRemark } from './man-literal.ts';
import {
  bold,
  compact,
  entry,
  indented,
  inline,
  italic,
  line,
  literal,
  paragraph,
  subsection,
} from './man-roff.ts';

/** Read in advance, because some commands are loaded asynchronously, while the pages are written synchronously. */
const DEFINITIONS = await readDefinitions();

/** The name and purpose of each command, by task. */
export function overview(): string {
  return TASKS.map(({ title, entries }) => {
    const lines = entries.map(({ name, summary }) => entry(bold(name), sentence(summary), 13));
    return subsection(title, compact(lines));
  }).join('');
}

/** The options that many commands share, under the headings that their help uses. */
export function sharedOptions(): string {
  const groups = new Map<string, Map<string, string>>();
  for (const { flags, description, group } of allDefinitions().flatMap(({ options }) => options)) {
    if (group === null) continue;
    const known = groups.get(group) ?? new Map<string, string>();
    if ((known.get(flags) ?? description) !== description)
      throw new Error(`${flags} differs under "${group}"`);
    groups.set(group, known.set(flags, description));
  }
  return [...groups]
    .map(([group, options]) => {
      const entries = [...options].map(([flags, description]) => optionEntry({ flags, description }));
      return subsection(groupTitle(group), compact(entries));
    })
    .join('');
}

/** Everything about each command and subcommand, in the order of the overview. */
export function details(): string {
  const saidBy = new Map<string, string>();
  return allDefinitions()
    .map((definition) => {
      const { name, notes } = definition;
      const first = saidBy.get(notes) ?? name;
      saidBy.set(notes, first);
      return describe(definition, first);
    })
    .join('');
}

function allDefinitions(): Definition[] {
  return TASKS.flatMap(({ entries }) => entries.flatMap(({ name }) => DEFINITIONS.get(name) ?? []));
}

/** @param noted the first command with the same notes */
function describe(
  { name, description, parameters, options, examples, notes }: Definition,
  noted: string,
): string {
  const own = options.filter(({ group }) => group === null);
  const groups = [...new Set(options.flatMap(({ group }) => group ?? []))];
  const listed = [
    ...parameters.map((one) => entry(italic(one.name), one.description)),
    ...own.map(optionEntry),
  ];
  const same = notes === '' || noted === name ? [] : [paragraph(`The notes on \`${noted}\` hold here too.`)];
  return [
    `.TP 4\n${line([bold(name), ...parameters.map(parameterTerm)].join(' '))}${line(inline(sentence(description)))}`,
    indented(
      ...(listed.length > 0 ? [SPACE, compact(listed)] : []),
      ...(groups.length > 0 ? [paragraph(`Takes the ${listOf(groups.map(groupTitle))} too.`)] : []),
      ...(noted === name ? notesText(notes) : same),
      literal(fitExamples(examples)),
    ),
  ].join('');
}

const SPACE = '.sp\n';

function parameterTerm({ name, required, variadic }: Parameter): string {
  const term = `${italic(name)}${variadic ? ' ...' : ''}`;
  return required ? term : `[${term}]`;
}

function optionEntry({ flags, description }: Pick<OptionText, 'flags' | 'description'>): string {
  return entry(optionTerm(flags), description);
}

/** `-n, --limit <count>` and `--watch [every]`: what is typed literally looks different from placeholders. */
function optionTerm(flags: string): string {
  return flags
    .split(/(<[^>]+>|\[[^\]]+\]|, )/)
    .map((part) => {
      if (part === ', ') return part;
      if (part.startsWith('<')) return italic(part.slice(1, -1));
      if (part.startsWith('[')) return `[${italic(part.slice(1, -1))}]`;
      return part.endsWith(' ') ? `${bold(part.trimEnd())} ` : bold(part);
    })
    .join('');
}

/** Paragraphs are wrapped again, but indented lines stay as they are. */
function notesText(notes: string): string[] {
  if (notes === '') return [];
  return notes.split(/\n{2,}/).flatMap((part) => {
    const lines = part.split('\n');
    const text = lines.filter((one) => !one.startsWith(' '));
    const form = lines.filter((one) => one.startsWith(' '));
    return [paragraph(text.join(' ')), ...(form.length > 0 ? [literal(form.flatMap(fitRemark))] : [])];
  });
}

function groupTitle(group: string): string {
  return `${group} options`;
}

function listOf(items: readonly string[]): string {
  return items.map((item) => item.toLowerCase()).join(' and the ');
}

/** The help has phrases. In the manual they begin with a capital and end with a full stop. */
function sentence(phrase: string): string {
  const first = phrase.charAt(0).toUpperCase();
  return `${first}${phrase.slice(1)}${/[.…]$/.test(phrase) ? '' : '.'}`;
}
