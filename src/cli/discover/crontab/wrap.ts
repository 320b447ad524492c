/** Puts the wrapper before a job's command, so that the shell goes on doing what it did. */
import type { CronJob } from './lines.ts';

/** Words that only a shell can run: it is the shell, then, that the wrapper starts. */
const SHELL_WORDS = new Set(
  '! . : [ [[ { alias bg cd command eval exec exit export fg for if read return set shift source test time trap true false ulimit umask unset until wait while case'.split(
    ' ',
  ),
);

/**
 * @param wrapper what to put first, such as `snitch exec TOKEN --`; plain words
 * @returns the command, with percent signs as a crontab wants them
 */
export function wrapCommand({ command, shell }: Pick<CronJob, 'command' | 'shell'>, wrapper: string): string {
  const before = wrapper.replaceAll('%', '\\%');
  if (isSimple(command)) return `${before} ${command}`;
  return `${before} ${shell} -c '${command.replaceAll("'", "'\\''")}'`;
}

/** One program with its arguments; redirections may follow, because they are as good for the wrapper. */
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

/** The line of `text` that the job stands on, with the wrapper in it. */
export function wrappedLine(text: string, job: CronJob, wrapper: string): { before: string; after: string } {
  const before = text.split('\n')[job.line - 1] ?? '';
  const rest = before.slice(job.offset + job.command.length);
  return { before, after: `${before.slice(0, job.offset)}${wrapCommand(job, wrapper)}${rest}` };
}
