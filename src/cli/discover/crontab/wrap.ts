/** Puts the wrapper before a job's command in such a way that the shell does the same as before. */
import type { CronJob } from './lines.ts';

/** Words that only a shell understands. For these the wrapper has to start a shell. */
const SHELL_WORDS = new Set(
  '! . : [ [[ { alias bg cd command eval exec exit export fg for if read return set shift source test time trap true false ulimit umask unset until wait while case'.split(
    ' ',
  ),
);

/**
 * @param wrapper what to put first, such as `snitch exec TOKEN --`; without quotes
 * @returns the command, with percent signs escaped for a crontab
 */
export function wrapCommand(
  { command, shell, isLiteral = false }: Pick<CronJob, 'command' | 'shell'> & { isLiteral?: boolean },
  wrapper: string,
): string {
  const before = isLiteral ? wrapper : wrapper.replaceAll('%', '\\%');
  if (isSimple(command)) return `${before} ${command}`;
  return `${before} ${shell} -c '${command.replaceAll("'", "'\\''")}'`;
}

/** Whether it is one program with its arguments. Redirections may follow, because they work for the wrapper too. */
function isSimple(command: string): boolean {
  const bare = command
    .replace(/\\./g, '_')
    .replace(/'[^']*'/g, '_')
    .replace(/"[^"]*"/g, (quoted) => (/`|\$\(/.test(quoted) ? '`' : '_'))
    .replace(/\d*[<>]&[\d-]+/g, '');
  if (/[|&;(){}`'"]|\$\(/.test(bare)) return false;
  const [first = ''] = bare.trim().split(/\s+/, 1);
  return !/^[A-Za-z_]\w*=/.test(first) && !/^\d*[<>]/.test(first) && !SHELL_WORDS.has(first);
}

/** The line of `text` with the job, before and after the wrapper is put into it. */
export function wrappedLine(text: string, job: CronJob, wrapper: string): { before: string; after: string } {
  const before = text.split('\n')[job.line - 1] ?? '';
  const rest = before.slice(job.offset + job.command.length);
  return { before, after: `${before.slice(0, job.offset)}${wrapCommand(job, wrapper)}${rest}` };
}
