/** Lines for a crontab and for a shell script. */
import { shellWord } from '../../text/shell-word.ts';
import { cronTimesOf } from './cron-times.ts';
import { CURL, commentOf, inShellQuotes, JOB, type Snippet, type SnippetSubject } from './snippet.ts';

/** Only one of the two ways is active, because both would run the job twice. */
export function crontab(snitch: SnippetSubject): Snippet {
  const { name, url, program, schedule, timezone, hostZone } = snitch;
  const kind = 'crontab';
  const { times, why } = cronTimesOf(snitch);
  if (why !== undefined) {
    const remarks = [`There is no line for a crontab: ${why}. A timer of systemd can do it: --for systemd`];
    return { kind, text: null, remarks };
  }
  const byProgram = `${shellWord(program)} exec ${shellWord(url)} -- ${JOB}`;
  const byCurl = `${JOB}; ${CURL} "${inShellQuotes(url)}?s=$?"`;
  const text = [
    commentOf(name),
    `${times} ${forCron(byProgram)}`,
    '# On a host without that program:',
    `#${times} ${forCron(byCurl)}`,
  ].join('\n');
  const isElsewhere = schedule !== null && !('every' in schedule) && timezone !== hostZone;
  const remarks = isElsewhere
    ? [
        `The schedule is meant in ${timezone}, but cron uses the time zone of its host, which is ${hostZone} here.`,
      ]
    : [];
  return { kind, text, remarks: [`Put the job in place of ${JOB}.`, ...remarks] };
}

/** To cron, a bare percent sign is the end of the command. */
function forCron(command: string): string {
  return command.replaceAll('%', '\\%');
}

export function curl({ name, url }: SnippetSubject): Snippet {
  return {
    kind: 'curl',
    text: `#!/bin/sh\n${commentOf(name)}\n${runByShell(url)}`,
    remarks: [`Put the job in place of ${JOB}; its exit status is reported, and stays that of the script.`],
  };
}

/** @param address how the shell writes the check-in address inside double quotes */
export function runByShell(url: string, address = inShellQuotes(url)): string {
  return [
    `${CURL} "${address}/start"`,
    JOB,
    'status=$?',
    `${CURL} "${address}?s=$status"`,
    'exit $status',
  ].join('\n');
}
