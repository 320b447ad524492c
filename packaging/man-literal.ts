/** Examples that fit the width of a terminal. */

/** Columns that a literal line has, on a terminal of 80 and at the deepest place where one stands. */
const WIDTH = 62;

const GAP = '   ';

/** Examples with the remarks behind them, in one column where there is room; a shell can read what had to be broken. */
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

/** An option stays with its value, a program with its arguments; quotes hold their words together. */
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

/** A line of a file with a remark behind it, which goes on below itself. */
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
