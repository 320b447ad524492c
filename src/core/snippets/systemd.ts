/** A drop-in for the service of a timer. */
import { shellWord } from '../../text/shell-word.ts';
import { CURL, commentOf, type Snippet, type SnippetSubject } from './snippet.ts';

/**
 * Sets `s` for a check-in in `ExecStopPost=`. A service whose `ExecCondition=` says that there is nothing to do was
 * skipped, which systemd does not count as a failure.
 */
export const OUTCOME = 'case $SERVICE_RESULT in success|exec-condition) s=0;; *) s=$SERVICE_RESULT;; esac';

/**
 * `ExecStopPost=` runs however the service ended, even if it was killed or could not start, and `-` keeps an
 * unreachable server from failing the service. `$SERVICE_RESULT` is systemd's own verdict, which respects the exit
 * statuses that the unit declares a success.
 */
export function systemd(snitch: SnippetSubject): Snippet {
  const { name, url, program } = snitch;
  const said = '$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS';
  const byProgram = `${OUTCOME}; exec ${shellWord(program)} check-in ${shellWord(url)} -s "$s" -m "${said}"`;
  const byCurl = `${OUTCOME}; exec ${CURL} -d "s=$s" --data-urlencode "m=${said}" ${shellWord(url)}`;
  const text = [
    commentOf(name),
    '# /etc/systemd/system/JOB.service.d/snitch.conf',
    ...timerLines(snitch),
    '[Service]',
    `ExecStopPost=-/bin/sh -c ${unitWord(byProgram)}`,
    '# On a host without that program:',
    `#ExecStopPost=-/bin/sh -c ${unitWord(byCurl)}`,
  ].join('\n');
  return {
    kind: 'systemd',
    text,
    remarks: [
      'Put the name of the service in place of JOB, then: systemctl daemon-reload. It reports success and failure.',
    ],
  };
}

/** What the service's timer says, if the schedule can be expressed there as it is. */
function timerLines({ schedule, timezone }: SnippetSubject): string[] {
  if (schedule === null || 'cron' in schedule) return [];
  if ('every' in schedule) return [`# Its timer has: OnUnitActiveSec=${schedule.every}`];
  const hasZone = /\s(?:UTC|GMT|[A-Za-z_]+\/[A-Za-z_/+-]+)$/.test(schedule.calendar);
  const zone = hasZone ? '' : ` ${timezone}`;
  return [`# Its timer has: OnCalendar=${schedule.calendar.replace(/\s+/g, ' ')}${zone}`];
}

/** One word of a command in a unit: dollar and percent signs are doubled to stand for themselves. */
function unitWord(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('$', '$$$$').replaceAll('%', '%%')}"`;
}
