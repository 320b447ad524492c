/** `snitch show`, `history` and `explain`: everything about one snitch. */
import type { Client } from '../../api/client.ts';
import type { WireCheckIn, WireSnitch } from '../../api/wire.ts';
import type { WireExplanation, WireScheduleShown } from '../../api/wire-explanation.ts';
import type { WirePause } from '../../api/wire-kept-back.ts';
import { untilInWords } from '../../core/activity/words.ts';
import { needOf } from '../../core/needs/needs.ts';
import { runningLines } from '../../core/running.ts';
import { scheduleInWords } from '../../core/schedule-name.ts';
import { durationInWords, SECOND, shortDuration } from '../../text/durations.ts';
import { outputLines, printable } from '../../text/printable.ts';
import { STATUS_COLORS } from '../../text/signs.ts';
import { relativeTime, weekdayTime } from '../../text/times.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { limitOf } from '../output/count.ts';
import {
  exactTime,
  type Field,
  Output,
  renderFields,
  shownTime,
  type View,
  wrapped,
} from '../output/output.ts';
import { rulesFields, valuesCell, valueWords, wordsCell } from '../output/run-words.ts';
import {
  lastReportOf,
  outcomeText,
  SNITCH_VIEW,
  snitchFields,
  statusPaint,
  statusText,
} from '../output/snitch-view.ts';
import { type Paint, paint, type Style } from '../output/style.ts';
import { clockOf } from '../output/zone-clock.ts';

const SNITCH = ['<snitch>', 'its token, or its name'] as const;

export const register: Register = (program) => {
  const show = program
    .command('show')
    .description('show everything about a snitch')
    .argument(...SNITCH)
    .action((name: string, flags: ClientFlags) => showSnitch(name, flags));
  withExamples(addClientOptions(show), 'snitch show nightly-backup', 'snitch show nightly-backup --json');

  const history = program
    .command('history')
    .description('list the check-ins of a snitch, newest first')
    .argument(...SNITCH)
    .option('-n, --limit <count>', 'how many', '20')
    .option('--before <time>', 'only those before this ISO 8601 time, or the one with this id')
    .option('--with-output', 'also what the jobs printed')
    .action((name: string, flags: HistoryFlags) => showHistory(name, flags));
  withExamples(
    addClientOptions(history),
    'snitch history nightly-backup',
    'snitch history nightly-backup -n 1 --with-output',
  );

  const explain = program
    .command('explain')
    .description(
      'say in words how long a snitch is waited for, when an alert would be sent, and who would get it',
    )
    .argument(...SNITCH)
    .option('--utc', 'all times in UTC, not in the time zone of the case')
    .action((name: string, flags: ExplainFlags) => explainSnitch(name, flags));
  withExamples(
    addClientOptions(explain),
    'snitch explain nightly-backup',
    'snitch explain nightly-backup --utc',
  );
};

async function showSnitch(name: string, flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const snitch = await resolveSnitch(client, name);
  const output = new Output(flags, client.now());
  const isRead = output.format === 'table' || output.format === 'wide';
  const needs = isRead ? await needsNamed(client, snitch) : snitch.needs;
  const fields = snitchFields(snitch, output.style, needs);
  if (output.format !== 'json' && output.format !== 'name' && !output.quiet) {
    // The snitch is shown even if this additional request fails.
    const { schedule, runs, paused } = (await client.explain(snitch.token).catch(() => null)) ?? {};
    if (paused) fields.splice(2, 0, { label: 'Paused', text: pauseText(paused, output.style) });
    const running = runningLines(runs, (iso) => exactTime(iso, output.style), output.style.now);
    if (running.length > 0) fields.splice(2, 0, { label: 'Running', text: running.join('\n') });
    if (schedule) fields.push({ label: 'Next runs', text: runsText(schedule) });
  }
  output.record(snitch, fields, SNITCH_VIEW);
  output.hint('what happens next: `snitch explain`; what happened: `snitch history`, `snitch alerts`');
}

function pauseText({ until, by }: WirePause, style: Style): string {
  const end = untilInWords(until, (iso) => exactTime(iso, style));
  return by ? `${end}\nby ${by.name} at ${exactTime(by.at, style)}` : end;
}

/** People know the others by their names. If a name cannot be read, the token is shown. */
function needsNamed(client: Client, { needs = [] }: WireSnitch): Promise<string[]> {
  return Promise.all(
    needs.map(async (need) => {
      if (!('token' in needOf(need))) return need;
      const found = await client.getSnitch(need).catch(() => null);
      return found ? `${found.name} (${need})` : need;
    }),
  );
}

interface HistoryFlags extends ClientFlags {
  limit: string;
  before?: string;
  withOutput?: boolean;
}

const OUTCOME_PAINTS: Record<WireCheckIn['outcome'], Paint | null> = {
  healthy: STATUS_COLORS.healthy,
  error: STATUS_COLORS.errored,
  start: 'cyan',
  log: null,
};

function outcomeSign(outcome: string, { signs }: Style): string {
  switch (outcome) {
    case 'healthy':
      return signs.status.healthy;
    case 'error':
      return signs.status.errored;
    case 'start':
      return '>';
    default:
      return '.';
  }
}

const CHECK_IN_VIEW: View<WireCheckIn> = {
  name: ({ id }) => id,
  id: ({ id }) => id,
  empty: 'no check-ins yet',
  columns: [
    { header: 'WHEN', cell: ({ at }, style) => shownTime(at, style) },
    {
      header: 'OUTCOME',
      cell: ({ outcome }, style) => (style.terminal ? `${outcomeSign(outcome, style)} ${outcome}` : outcome),
      paint: ({ outcome }) => (Object.hasOwn(OUTCOME_PAINTS, outcome) ? OUTCOME_PAINTS[outcome] : null),
    },
    { header: 'EXIT', cell: ({ exit_status }) => String(exit_status ?? ''), align: 'right' },
    {
      header: 'TOOK',
      cell: ({ duration_ms }) => (duration_ms === null ? '' : shortDuration(duration_ms)),
      align: 'right',
    },
    { header: 'MESSAGE', cell: wordsCell, shrinkTo: 12 },
    { header: 'FROM', cell: ({ source }) => source ?? '', optional: true },
    { header: 'ID', cell: ({ id }) => id, wide: true },
  ],
};

/** Most jobs report no values, and have no column for them. */
function viewOf(checkIns: readonly WireCheckIn[]): View<WireCheckIn> {
  if (checkIns.every(({ values }) => !values)) return CHECK_IN_VIEW;
  const { columns } = CHECK_IN_VIEW;
  const before = columns.findIndex(({ header }) => header === 'MESSAGE');
  const values = { header: 'VALUES', cell: valuesCell, shrinkTo: 12 };
  return { ...CHECK_IN_VIEW, columns: columns.toSpliced(before, 0, values) };
}

async function showHistory(name: string, flags: HistoryFlags): Promise<void> {
  const page = { limit: limitOf(flags.limit), ...(flags.before ? { before: flags.before } : {}) };
  const client = connect(flags);
  const { token } = await resolveSnitch(client, name);
  const checkIns = await client.listCheckIns(token, page);
  const output = new Output(flags, client.now());
  if (!flags.withOutput || flags.quiet || output.format === 'json' || output.format === 'name') {
    output.list(checkIns, viewOf(checkIns));
    return;
  }
  for (const checkIn of checkIns) {
    const [, row = ''] = output.tableOf([checkIn], viewOf([checkIn]));
    const printed = checkIn.output === null ? [] : outputLines(checkIn.output.trimEnd());
    output.lines([row, ...printed.map((line) => `    ${line}`)]);
  }
}

interface ExplainFlags extends ClientFlags {
  utc?: boolean;
}

async function explainSnitch(name: string, flags: ExplainFlags): Promise<void> {
  const client = connect(flags);
  const snitch = await resolveSnitch(client, name);
  const explanation = await client.explain(snitch.token);
  const output = new Output(flags, client.now());
  if (output.format === 'json') output.json(explanation);
  else output.lines(explained(snitch, explanation, output.style, flags.utc ?? false));
}

/** If the server sends no email, the addresses are still listed, with a remark. */
function emailsTo({ emails, sends_email }: WireExplanation['notify']): string {
  if (emails.length === 0) return 'nobody';
  return sends_email === false ? `${emails.join(', ')}\nemail is off: none is sent` : emails.join(', ');
}

/** A schedule with its next runs in its own zone, which need not be that of the case; otherwise the interval. */
function dueFields(
  { interval, alert_type, schedule, grace, max_runtime: most = null }: WireSnitch,
  { schedule: shown }: WireExplanation,
  inUtc: boolean,
): Field[] {
  const later = grace ? `, with ${durationInWords(grace * SECOND)} of grace` : '';
  const limit = most === null ? [] : [{ label: 'Max runtime', text: durationInWords(most * SECOND) }];
  if (!schedule || !shown) {
    return [{ label: 'Interval', text: `${interval}, alerts ${alert_type}${later}` }, ...limit];
  }
  return [
    { label: 'Schedule', text: scheduleInWords(schedule, shown.timezone) },
    { label: 'Grace', text: durationInWords(shown.grace * SECOND) },
    ...limit,
    { label: 'Next runs', text: runsText(inUtc ? { ...shown, timezone: 'UTC' } : shown) },
  ];
}

/** One line each, in the zone of the schedule. */
function runsText({ runs, timezone }: WireScheduleShown): string {
  const local = (iso: string) => weekdayTime(Date.parse(iso), timezone);
  const lines = runs.map(({ at, deadline }) => `${local(at)}, deadline ${local(deadline)}`);
  return lines.join('\n') || 'none: it is not due again';
}

/** Shows all times in one zone, which is named once. */
function explained(snitch: WireSnitch, explanation: WireExplanation, style: Style, inUtc: boolean): string[] {
  const { status, reasons, period, deadline, next_alert, values, notify } = explanation;
  const report = lastReportOf(snitch);
  const clock = clockOf(inUtc ? 'UTC' : explanation.timezone);
  const instant = (at: string | undefined | null, none: string) => {
    if (!at) return none;
    return style.terminal ? `${clock.at(at)}, ${relativeTime(at, style.now)}` : clock.at(at);
  };
  const open = explanation.runs?.open ?? [];
  const ofRuns = open.flatMap(({ started_at, overruns_at }) => [started_at, overruns_at]);
  const known = [deadline?.at, next_alert?.at, snitch.checked_in_at, report?.at, ...ofRuns].filter(
    (at) => at != null,
  );
  const fields: Field[] = [
    { label: 'Times in', text: clock.zone },
    ...dueFields(snitch, explanation, inUtc),
    ...rulesFields(snitch),
    ...(values?.length ? [{ label: 'Values', text: values.map(valueWords).join('\n') }] : []),
    { label: 'Last healthy', text: instant(snitch.checked_in_at, 'never') },
    { label: 'Last report', text: report ? `${instant(report.at, '')}\n${outcomeText(report)}` : 'never' },
    { label: 'Period now', text: `${clock.at(period.start)} to ${clock.at(period.end)}` },
    { label: 'Deadline', text: instant(deadline?.at, 'none: no check-in is awaited') },
    { label: 'Next alert', text: instant(next_alert?.at, 'none') },
    { label: 'Emails to', text: emailsTo(notify) },
    { label: 'Webhooks', text: notify.webhooks.join('\n') || 'none' },
    ...(notify.channels ? [{ label: 'Channels', text: notify.channels.join('\n') || 'none' }] : []),
  ];
  const word = paint(style, statusPaint(status), printable(statusText(status, style)));
  return [
    `${paint(style, 'bold', printable(snitch.name))}: ${word}`,
    ...reasons
      .map((reason) => printable(clock.inSentence(reason, explanation.timezone, known)))
      .flatMap((reason) => wrapped(reason, style.width - 2).map((line) => `  ${line}`)),
    '',
    ...renderFields(fields, style),
  ];
}
