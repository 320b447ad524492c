/** Reads /etc/anacrontab line by line (`man 5 anacrontab`). */
import { type CronJob, type CronUnknown, environmentAfter, IGNORING } from '../crontab/lines.ts';

export interface AnacronJob extends CronJob {
  /** Days from one run to the next; a word such as `@monthly` is a number of days that is long enough. */
  period: number;
  /** Minutes that anacron waits before it starts the job, including the longest random delay. */
  delay: number;
  /** What anacron calls it. */
  id: string;
  /** The hours of the day in which it may be started, the last one not included. */
  hours: { from: number; to: number };
}

const PERIODS: Record<string, number> = {
  '@daily': 1,
  '@weekly': 7,
  '@monthly': 31,
  '@yearly': 366,
  '@annually': 366,
};

const ENVIRONMENT = /^\s*[A-Za-z_]\w*\s*=/;
const JOB = /^\s*(\d{1,3}|@\w+)\s+(\d{1,5})\s+([^\s/]+)\s+/;

type Environment = Parameters<typeof environmentAfter>[1] & { random: number; hours: AnacronJob['hours'] };

export function parseAnacrontab(text: string): (AnacronJob | CronUnknown)[] {
  const found: (AnacronJob | CronUnknown)[] = [];
  let environment: Environment = {
    ...{ shell: '/bin/sh', path: null, cronTz: null, tz: null, random: 0 },
    hours: { from: 0, to: 24 },
  };
  let ignored = false;
  let isContinued = false;
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    const isPart = isContinued;
    isContinued = content.endsWith('\\');
    if (isPart) continue;
    if (/^\s*(#.*)?$/.test(content)) {
      ignored = content.trim() !== '' && (ignored || IGNORING.test(content));
    } else if (ENVIRONMENT.test(content)) environment = after(content, environment);
    else {
      const job = isContinued
        ? { reason: 'it continues on the next line, which is not read' }
        : jobIn(content, environment);
      const isIgnored = ignored || IGNORING.test(content);
      if ('reason' in job)
        found.push({ kind: 'unknown', line, text: content.trim(), ...job, ignored: isIgnored });
      else found.push({ ...job, line, ignored: isIgnored });
      ignored = false;
    }
  }
  return found;
}

function after(content: string, before: Environment): Environment {
  const [, random] = /^\s*RANDOM_DELAY\s*=\s*(\d{1,5})\s*$/.exec(content) ?? [];
  const [, from, to] = /^\s*START_HOURS_RANGE\s*=\s*(\d{1,2})\s*-\s*(\d{1,2})\s*$/.exec(content) ?? [];
  const isRange = Number(from) < Number(to) && Number(to) <= 24;
  return {
    ...before,
    ...environmentAfter(content, before),
    ...(random === undefined ? {} : { random: Number(random) }),
    ...(isRange ? { hours: { from: Number(from), to: Number(to) } } : {}),
  };
}

function jobIn(content: string, environment: Environment): Omit<AnacronJob, 'line'> | { reason: string } {
  const [head, days = '', wait = '', id = ''] = JOB.exec(content) ?? [];
  if (head === undefined) return { reason: 'it is neither a job nor a variable' };
  const period = PERIODS[days.toLowerCase()] ?? Number(days);
  if (!(period >= 1 && period <= 366)) return { reason: `${days} is not a period that can be read here` };
  const command = content.slice(head.length).trimEnd();
  if (command === '') return { reason: 'the command is missing' };
  const { random, hours, ...others } = environment;
  return {
    ...{
      kind: 'job',
      schedule: `anacron ${days} ${wait}`,
      user: 'root',
      command,
      offset: head.length,
      input: '',
    },
    ...{ ...others, ignored: false, flaw: null, isLiteral: true },
    ...{ period, delay: Number(wait) + random, id, hours },
  };
}
