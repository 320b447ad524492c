/** Finds the programs that a shell line calls, for the subset of the language that the documents use. */

/** A program with its arguments. */
export type Call = readonly string[];

/** Programs that run another one: the rest of their words is a call of its own. */
const RUNNERS = new Set(['sudo', 'exec', 'timeout']);

/** Every call of a command line or of a line for cron, those behind `--` and in `$(…)` included. */
export function callsIn(line: string): Call[] {
  const command = line.replace(/^(?:@\w+|(?:[\d*][\d*/,-]*\s+){4}[\d*][\d*/,-]*)\s+/, '');
  const words = wordsOf(command);
  const calls: string[][] = [[]];
  for (const word of words) {
    if (/^(?:&&|\|\||[;|&()]|[<>]\()$/.test(word)) calls.push([]);
    else calls.at(-1)?.push(word);
  }
  const nested = [...command.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, inner = '']) => callsIn(inner));
  return [...calls.flatMap(divided), ...nested];
}

/** `A=b sudo snitch exec T -- backup` is a call of `sudo`, one of `snitch` and one of `backup`. */
function divided(words: readonly string[]): Call[] {
  const own = withoutRedirections(words);
  const first = own.findIndex((word) => !/^\w+=/.test(word));
  if (first < 0) return [];
  const call = own.slice(first);
  const [program = ''] = call;
  if (RUNNERS.has(program)) {
    const run = call.slice(call[1] === '-u' ? 3 : 1);
    return [[program], ...divided(run.filter((word) => !/^\d+$/.test(word)))];
  }
  const behind = /snitch$/.test(program) ? call.indexOf('--') : -1;
  return behind < 0 ? [call] : [call, ...divided(call.slice(behind + 1))];
}

function withoutRedirections(words: readonly string[]): string[] {
  return words.filter((word, index) => !/^[<>]+$/.test(word) && !/^[<>]+$/.test(words[index - 1] ?? ''));
}

/** Words and operators, without quotes; a remark ends the line. */
function wordsOf(line: string): string[] {
  const pattern =
    /\s+#.*$|&&|\|\||[<>]\(|>+|<|[;|&()]|(?:\$\((?:[^()]|\([^()]*\))*\)|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&()<>])+/g;
  return (line.match(pattern) ?? [])
    .filter((word) => !/^\s/.test(word))
    .map((word) =>
      word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double, single) => double ?? single ?? ''),
    );
}
