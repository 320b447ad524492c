/** The help of the whole program: all names on one screen, or a line for each command. */
import { TASKS } from './catalogue.ts';

const EXAMPLES = [
  'snitch create nightly-backup --interval daily   a job that runs once a day',
  'snitch check-in nightly-backup                  what it calls when it is done',
  'snitch list                                     who is healthy, who is silent',
];

const TITLE_WIDTH = 17;

/** Fits a terminal of 80 columns and 24 lines. */
export function shortHelp(): string {
  const tasks = TASKS.map(({ title, entries }) => {
    const names = entries.map(({ name }) => name);
    return `  ${title.padEnd(TITLE_WIDTH)}${names.join(', ')}`;
  });
  return text([
    'Examples:',
    ...EXAMPLES.map((line) => `  ${line}`),
    '',
    "A dead man's switch: jobs check in, and Snitch tells you when one does not.",
    '',
    'Usage: snitch COMMAND [options]',
    '',
    ...tasks,
    '',
    'snitch help COMMAND explains one; snitch help --all describes each in a line.',
    'Most take -o table|wide|json|name, --json, -q, --url and --api-key-file.',
  ]);
}

export function fullHelp(): string {
  const lines = TASKS.flatMap(({ title, entries }) => [
    `${title}:`,
    ...entries.map(({ name, summary }) => `  ${name.padEnd(13)}${summary}`),
    '',
  ]);
  return text([...lines, 'snitch help COMMAND explains a command, starting with examples.']);
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
