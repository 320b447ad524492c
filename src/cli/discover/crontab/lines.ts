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
  /** The `CRON_TZ` that is set above the line; null if none is. */
  cronTz: string | null;
  /** The same for `TZ`, which affects only the job itself. */
  tz: string | null;
  /** Whether a comment says not to watch it. */
  ignored: boolean;
  /** What keeps most crons from running the line as intended; null if nothing does. */
  flaw: string | null;
  /** Whether a percent sign in the command stands for itself, as in anacron. In cron it ends the command. */
  isLiteral: boolean;
}

type Environment = Pick<CronJob, 'shell' | 'path' | 'cronTz' | 'tz'>;

export interface CronUnknown {
  kind: 'unknown';
  line: number;
  text: string;
  reason: string;
  ignored: boolean;
}

const ENVIRONMENT = /^\s*(?:[A-Za-z_]\w*|"[^"]*"|'[^']*')\s*=/;
/** In some crons a minus before the minute keeps the job out of the log. */
const SCHEDULE = /^\s*-?(@\w+|(?:[^\s]+\s+){4}[^\s]+)(\s+)/;

/** Everything before the command, with whatever a person may have taken for a space. */
const BEFORE_COMMAND = /^\s*-?(?:@\w+|(?:\S+\s+){4}\S+)\s+/;
const BEFORE_COMMAND_OF_SYSTEM = new RegExp(`${BEFORE_COMMAND.source}\\S+\\s+`);

/** Characters; no cron accepts as many. What any user can write into a crontab must not keep root waiting. */
const LONGEST_LINE = 20_000;

/** `# snitch: ignore`, on a line of its own above the job or at the end of its command, where the shell skips it. */
export const IGNORING = /(?:^|\s)#\s*snitch:?\s+ignore\b/i;

/** @param system whether lines have a user after the schedule */
export function parseCrontab(text: string, system: boolean): (CronJob | CronUnknown)[] {
  const found: (CronJob | CronUnknown)[] = [];
  let environment: Environment = { shell: '/bin/sh', path: null, cronTz: null, tz: null };
  const lines = text.split('\n');
  let ignored = false;
  for (const [index, whole] of lines.entries()) {
    const content = whole.replace(/\r$/, '');
    if (/^[ \t]*(#.*)?$/.test(content)) {
      ignored = content.trim() !== '' && (ignored || IGNORING.test(content));
      continue;
    }
    if (content.length > LONGEST_LINE) {
      const text = `${content.slice(0, 80)}…`;
      found.push({ kind: 'unknown', line: index + 1, text, reason: 'it is too long for cron', ignored });
      ignored = false;
      continue;
    }
    if (ENVIRONMENT.test(content)) {
      environment = environmentAfter(content, environment);
      continue;
    }
    const job = parseJob(content, index + 1, system, environment);
    const flaw = flawOf(whole, index === lines.length - 1);
    const isIgnored = ignored || IGNORING.test(content);
    found.push(job.kind === 'job' ? { ...job, ignored: isIgnored, flaw } : { ...job, ignored: isIgnored });
    ignored = false;
  }
  return found;
}

export function environmentAfter(content: string, before: Environment): Environment {
  const shell = valueIn(content, 'SHELL');
  return {
    shell: shell?.startsWith('/') ? shell : before.shell,
    path: valueIn(content, 'PATH') ?? before.path,
    cronTz: valueIn(content, 'CRON_TZ') ?? before.cronTz,
    tz: valueIn(content, 'TZ') ?? before.tz,
  };
}

function flawOf(line: string, isLast: boolean): string | null {
  if (isLast)
    return 'the file does not end with a newline, so cron does not run this line, or any line of the file';
  if (line.endsWith('\r')) {
    return 'the line has a Windows line ending, and cron takes the carriage return as part of the command';
  }
  return null;
}

/**
 * Cron knows only blanks and tabs. Other spaces, from an editor or a web page, look the same but count as part of a
 * field, so cron refuses the line, and some crons the whole file.
 */
function oddSpaceIn(content: string, system: boolean): string | null {
  if (content.startsWith('\ufeff')) {
    return 'the file begins with a byte order mark, so cron does not run this line, or any line of the file';
  }
  const [head = ''] = (system ? BEFORE_COMMAND_OF_SYSTEM : BEFORE_COMMAND).exec(content) ?? [];
  const [found] = /[^\S \t]/.exec(head) ?? [];
  if (found === undefined) return null;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `it has a space that cron does not recognise (U+${code}), so cron does not run this line, or any line of the file`;
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
  environment: Environment,
): CronJob | CronUnknown {
  const unknown = (reason: string): CronUnknown => ({
    kind: 'unknown',
    line,
    text: content.trim(),
    reason,
    ignored: false,
  });
  const oddity = oddSpaceIn(content, system);
  if (oddity !== null) return unknown(oddity);
  const [head, schedule = ''] = SCHEDULE.exec(content) ?? [];
  if (head === undefined || !/^[\d*@~]/.test(schedule)) return unknown('it is neither a job nor a variable');
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
  // Some crons accept options there, and a wrapper before them would change their meaning.
  if (command.startsWith('-')) return unknown('its command begins with a minus: crons differ on that');
  const input = rest.slice(command.length).trimEnd();
  const mark = { ignored: false, flaw: null, isLiteral: false };
  return { kind: 'job', line, schedule, user, command, offset, input, ...environment, ...mark };
}
