/** Examples that fit the width of a terminal. */

/** Columns that a literal line has, on a terminal of 80 and at the deepest place where one stands. */
const WIDTH = 62;

/** The example and the remark behind it, the command broken where a shell lets it be. */
export function fitExample(example: string): string[] {
  if (example.length <= WIDTH) return [example];
  const [, command = example, remark = ''] = /^(.*?\S)(?:\s{2,}(\S.*))?$/.exec(example) ?? [];
  const close = `${command}   ${remark}`;
  if (remark !== '' && close.length <= WIDTH) return [close];
  const lines = fill(wordsOf(command), WIDTH - '  '.length - ' \\'.length);
  const broken = lines.map((text, index) => {
    const indent = index === 0 ? '' : '  ';
    return `${indent}${text}${index === lines.length - 1 ? '' : ' \\'}`;
  });
  return remark === '' ? broken : [...broken, `    (${remark})`];
}

/** Words of a shell: quotes hold theirs together. */
function wordsOf(command: string): string[] {
  return command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
}

/** A line of a file with a remark behind it, which goes on below itself. */
export function fitRemark(text: string): string[] {
  const [, code = '', remark = ''] = /^(\s*\S.*?\s{2,})(\S.*)$/.exec(text) ?? [];
  if (text.length <= WIDTH || remark === '') return [text];
  const indent = ' '.repeat(code.length);
  return fill(remark.split(' '), WIDTH - code.length).map(
    (part, index) => (index === 0 ? code : indent) + part,
  );
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
