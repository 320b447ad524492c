/** Reads a crontab line by line. A line that is not understood is reported, never skipped in silence. */

export interface CronJob {
  kind: 'job';
  /** From 1. */
  line: number;
  schedule: string;
  /** Null in the crontab of a user. */
  user: string | null;
  /** What the shell runs, as it is written: `\%` is a percent sign. */
  command: string;
  /** Where in its line the command begins. */
  offset: number;
  /** What the job gets on its standard input, with the percent sign before it. */
  input: string;
  /** The shell that runs it. */
  shell: string;
  /** Where that shell looks for programs; null if no line above sets it, so that cron's own default counts. */
  path: string | null;
}

export interface CronUnknown {
  kind: 'unknown';
  line: number;
  text: string;
  reason: string;
}

const ENVIRONMENT = /^\s*(?:[A-Za-z_]\w*|"[^"]*"|'[^']*')\s*=/;
/** In some crons a minus before the minute keeps the job out of the log. */
const SCHEDULE = /^\s*-?(@\w+|(?:[^\s]+\s+){4}[^\s]+)(\s+)/;

/** @param system whether lines have a user after the schedule */
export function parseCrontab(text: string, system: boolean): (CronJob | CronUnknown)[] {
  const found: (CronJob | CronUnknown)[] = [];
  let shell = '/bin/sh';
  let path: string | null = null;
  for (const [index, whole] of text.split('\n').entries()) {
    const content = whole.replace(/\r$/, '');
    if (/^\s*(#.*)?$/.test(content)) continue;
    if (ENVIRONMENT.test(content)) {
      const given = valueIn(content, 'SHELL');
      if (given?.startsWith('/')) shell = given;
      path = valueIn(content, 'PATH') ?? path;
      continue;
    }
    found.push(parseJob(content, index + 1, system, { shell, path }));
  }
  return found;
}

/** The value of a variable. Crontabs expand nothing: `$PATH` stands for itself. */
function valueIn(content: string, name: string): string | null {
  const [, value] = new RegExp(`^\\s*["']?${name}["']?\\s*=\\s*(.*?)\\s*$`).exec(content) ?? [];
  return value?.replace(/^(["'])(.*)\1$/, '$2') ?? null;
}

function parseJob(
  content: string,
  line: number,
  system: boolean,
  environment: Pick<CronJob, 'shell' | 'path'>,
): CronJob | CronUnknown {
  const unknown = (reason: string): CronUnknown => ({ kind: 'unknown', line, text: content.trim(), reason });
  const [head, schedule = ''] = SCHEDULE.exec(content) ?? [];
  if (head === undefined || !/^[\d*@]/.test(schedule)) return unknown('it is neither a job nor a variable');
  let offset = head.length;
  let user: string | null = null;
  if (system) {
    const [column, name = ''] = /^(\S+)\s+/.exec(content.slice(offset)) ?? [];
    if (column === undefined) return unknown('a user and a command are missing');
    user = name;
    offset += column.length;
  }
  const rest = content.slice(offset);
  const end = rest.search(/(?<!\\)%/);
  const command = (end < 0 ? rest : rest.slice(0, end)).trimEnd();
  if (command === '') return unknown('the command is missing');
  const input = rest.slice(command.length).trimEnd();
  return { kind: 'job', line, schedule, user, command, offset, input, ...environment };
}
