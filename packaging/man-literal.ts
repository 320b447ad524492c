/** Makes examples fit the width of a terminal. */

/** The columns for a literal line on a terminal of 80 columns, with the deepest indentation. */
const WIDTH = 62;

const GAP = '   ';

/** Puts the remarks of examples into one column if there is room. A shell can still read commands that are broken. */
export function fitExamples(examples: readonly string[]): string[] {
  const parts = examples.map((example) => {
    const [, command = example, remark = ''] = /^(.*?\S)(?:\s{2,}(\S.*))?$/.exec(example) ?? [];
    return { command, remark };
  });
  const remarked = parts.filter(({ remark }) => remark !== '');
  const column = Math.max(...remarked.map(({ command }) => command.length + GAP.length), 0);
  const fits = remarked.every(({ remark }) => column + remark.length <= WIDTH);
  return parts.flatMap(({ command, remark }) => {
    if (remark === '') return breakCommand(command);
    if (fits) return [command.padEnd(column) + remark];
    return [...breakCommand(command), `    (${remark.replace(/^\((.*)\)$/, '$1')})`];
  });
}

function breakCommand(command: string): string[] {
  if (command.length <= WIDTH) return [command];
  const lines = fill(partsOf(command), WIDTH - '  '.length - ' \\'.length);
  return lines.map((text, index) => {
    const indent = index === 0 ? '' : '  ';
    return `${indent}${text}${index === lines.length - 1 ? '' : ' \\'}`;
  });
}

/** Keeps an option with its value, a program with its arguments, and quoted words together. */
function partsOf(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const parts: string[] = [];
  for (const word of words) {
    const last = parts.at(-1);
    if (last === undefined || last.endsWith(';') || /^(-.+|&&|\|\|?|>)$/.test(word)) parts.push(word);
    else parts[parts.length - 1] = `${last} ${word}`;
  }
  return parts;
}

/** Fits a line of a file with a remark, which is continued below itself. */
export function fitRemark(text: string): string[] {
  const [, code = '', remark = ''] = /^(\s*\S.*?\s{2,})(\S.*)$/.exec(text) ?? [];
  if (text.length <= WIDTH || remark === '') return [text];
  const indent = ' '.repeat(code.length);
  const lines = fill(remark.split(' '), WIDTH - code.length);
  return lines.map((part, index) => (index === 0 ? code : indent) + part);
}

function fill(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
