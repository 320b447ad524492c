/** How a snitch is shown in lists and on its own, and its status as a word with a symbol and a colour. */
import type { WireReport, WireSnitch, WireStatus } from '../../api/wire.ts';
import type { WireHold } from '../../api/wire-kept-back.ts';
import { durationInWords, SECOND, shortDuration } from '../../text/durations.ts';
import { STATUS_COLORS } from '../../text/signs.ts';
import { terminalTime } from '../../text/times.ts';
import { truncate } from '../../text/width.ts';
import { scheduleWords } from './next-runs.ts';
import { type Column, exactTime, type Field, shownTime, type View } from './output.ts';
import { rulesCell, rulesFields } from './run-words.ts';
import type { Paint, Style } from './style.ts';

/** The status that needs the most attention comes first. */
export const STATUSES: readonly WireStatus[] = ['failed', 'errored', 'pending', 'paused', 'healthy'];

/** With its sign for a person at a terminal, and as the bare word for programs. */
export function statusText(status: string, { terminal, signs }: Pick<Style, 'terminal' | 'signs'>): string {
  return terminal && isStatus(status) ? `${signs.status[status]} ${status}` : status;
}

/** Shows people why nobody is alerted (again); for programs the word stays as it is. */
function statusCell({ status, acknowledged, held, silenced }: WireSnitch, style: Style): string {
  const quiet = [acknowledged ? 'ack' : '', held ? 'held' : '', silenced ? 'silenced' : ''];
  const why = style.terminal ? quiet.filter((word) => word !== '').join(', ') : '';
  const text = `${statusText(status, style)}${why === '' ? '' : ` (${why})`}`;
  return style.width < NARROW ? truncate(text, NARROW_STATUS, style.signs.ellipsis) : text;
}

/** On a terminal with fewer columns than this, the status leaves room for when the snitch is due. */
const NARROW = 60;
const NARROW_STATUS = 15;

/** `by Ann, 5m ago: on it` */
function acknowledgedWords({ acknowledged }: WireSnitch, when: (iso: string) => string): string {
  if (!acknowledged) return '';
  const { by, at, note } = acknowledged;
  return `by ${by}, ${when(at)}${note === null ? '' : `: ${note}`}`;
}

export function statusPaint(status: string): Paint | null {
  return isStatus(status) ? STATUS_COLORS[status] : null;
}

function isStatus(text: string): text is WireStatus {
  return Object.hasOwn(STATUS_COLORS, text);
}

/** What the job reported last, or the last healthy check-in if the server is too old to say. */
export function lastReportOf({ last_report, checked_in_at: at }: WireSnitch): WireReport | null {
  if (last_report !== undefined) return last_report;
  return at === null ? null : { at, outcome: 'healthy', exit_status: null, message: null };
}

/** `error, exit status 3: disk full`; `healthy` */
export function outcomeText({ outcome, exit_status, message, reason }: Omit<WireReport, 'at'>): string {
  const status = exit_status === null || exit_status === 0 ? '' : `, exit status ${exit_status}`;
  const words = [reason, message].filter((one) => one).join('; ');
  return `${outcome}${status}${words ? `: ${words}` : ''}`;
}

function reportCell(snitch: WireSnitch, style: Style): string {
  const report = lastReportOf(snitch);
  if (!report) return 'never';
  const when = shownTime(report.at, style);
  return report.outcome === 'healthy' && !report.message ? when : `${when}, ${outcomeText(report)}`;
}

/** When the snitch is due, or which deadline it missed. */
function dueInstant({ deadline, missing_since }: WireSnitch): string | null {
  return missing_since ?? deadline ?? null;
}

/** `in 3h 20m`; `4h 5m late`; `now` until the server decides; empty if nothing is awaited. */
function dueCell(snitch: WireSnitch, { terminal, now }: Style): string {
  const due = dueInstant(snitch);
  if (!terminal) return due ?? '';
  const at = due === null ? Number.NaN : Date.parse(due);
  if (snitch.status === 'failed') return at < now ? `${shortDuration(now - at)} late` : 'missed';
  if (Number.isNaN(at)) return '';
  return at <= now ? 'now' : `in ${shortDuration(at - now)}`;
}

/** Older servers leave the deadline out of their answers. */
export const DUE: Column<WireSnitch> = {
  header: 'DUE',
  cell: dueCell,
  paint: ({ status }) => (status === 'failed' ? STATUS_COLORS.failed : null),
};

export const EXACTLY_DUE: Column<WireSnitch> = {
  header: 'DEADLINE',
  cell: (snitch) => terminalTime(dueInstant(snitch) ?? ''),
  wide: true,
};

export const SNITCH_VIEW: View<WireSnitch> = {
  name: ({ name }) => name,
  id: ({ token }) => token,
  empty: 'no snitches: create one with `snitch create NAME --interval daily`',
  columns: [
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 12 },
    {
      header: 'STATUS',
      cell: statusCell,
      paint: ({ status }) => statusPaint(status),
    },
    {
      header: 'LAST HEALTHY',
      cell: ({ checked_in_at }, style) => shownTime(checked_in_at, style),
      optional: true,
    },
    { header: 'INTERVAL', cell: ({ interval }) => interval, optional: true },
    { header: 'TAGS', cell: ({ tags }) => tags.join(', '), shrinkTo: 8, optional: true },
    { header: 'TOKEN', cell: ({ token }) => token, paint: () => 'dim', optional: true },
    {
      header: 'LAST REPORT',
      cell: reportCell,
      paint: (snitch) => (lastReportOf(snitch)?.outcome === 'error' ? STATUS_COLORS.errored : null),
      shrinkTo: 14,
      optional: 'dear',
    },
    { header: 'WHY', cell: ({ reason }) => reason ?? '', wide: true },
    {
      header: 'ACKNOWLEDGED',
      cell: (snitch, style) => acknowledgedWords(snitch, (iso) => shownTime(iso, style)),
      wide: true,
    },
    {
      header: 'SILENCED',
      cell: ({ silenced }, style) => shownTime(silenced?.until ?? null, style, ''),
      wide: true,
    },
    { header: 'HELD BY', cell: ({ held }) => held?.by?.name ?? '', wide: true },
    { header: 'NEEDS', cell: ({ needs = [] }) => needs.join(', '), wide: true },
    { header: 'SCHEDULE', cell: scheduleWords, wide: true },
    {
      header: 'MAX RUNTIME',
      cell: ({ max_runtime: most }) => (most == null ? '' : shortDuration(most * SECOND)),
      align: 'right',
      wide: true,
    },
    { header: 'EXPECTS', cell: rulesCell, wide: true },
    { header: 'ALERTS', cell: ({ alert_type }) => alert_type, wide: true },
    { header: 'ALERT EMAIL', cell: ({ alert_email }) => alert_email.join(', '), wide: true },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), wide: true },
    { header: 'CHECK-IN URL', cell: ({ check_in_url }) => check_in_url, wide: true },
  ],
};

function reportField(snitch: WireSnitch, style: Style): string {
  const report = lastReportOf(snitch);
  return report ? `${exactTime(report.at, style)}\n${outcomeText(report)}` : 'never';
}

/** Why nobody was told so far, and until when. */
function heldText({ by, since, until }: WireHold, style: Style): string {
  const held = `${by ? `by ${by.name} ` : ''}since ${exactTime(since, style)}: nobody was told`;
  if (until !== null) return `${held}\nalerts at ${exactTime(until, style)} if it is still silent then`;
  return `${held}\nalerts when ${by?.name ?? 'what it needs'} has been healthy for one period and this is still silent`;
}

/** With a schedule, the interval is only for clients that know no schedules. */
function dueFields(snitch: WireSnitch): Field[] {
  const { schedule, interval, grace = null, max_runtime: most = null } = snitch;
  const words = grace === null ? 'as follows from the schedule' : durationInWords(grace * SECOND);
  return [
    schedule ? { label: 'Schedule', text: scheduleWords(snitch) } : { label: 'Interval', text: interval },
    ...(schedule || grace !== null ? [{ label: 'Grace', text: words }] : []),
    ...(most === null ? [] : [{ label: 'Max runtime', text: durationInWords(most * SECOND) }]),
  ];
}

function silencedFields({ silenced }: WireSnitch, style: Style): Field[] {
  if (!silenced) return [];
  const { until, by, note } = silenced;
  const why = note === '' ? '' : `: ${note}`;
  return [{ label: 'Silenced', text: `until ${exactTime(until, style)} by ${by}${why}`, paint: 'yellow' }];
}

/** @param needs what it needs in words, if more is known than tokens and tags */
export function snitchFields(
  snitch: WireSnitch,
  style: Style,
  needs: readonly string[] = snitch.needs ?? [],
): Field[] {
  return [
    { label: 'Name', text: snitch.name, paint: 'bold' },
    { label: 'Status', text: statusText(snitch.status, style), paint: statusPaint(snitch.status) },
    ...(snitch.reason ? [{ label: 'Why', text: snitch.reason }] : []),
    ...(snitch.acknowledged
      ? [{ label: 'Acknowledged', text: acknowledgedWords(snitch, (iso) => exactTime(iso, style)) }]
      : []),
    ...silencedFields(snitch, style),
    ...(snitch.held ? [{ label: 'Held', text: heldText(snitch.held, style) }] : []),
    { label: 'Last healthy', text: exactTime(snitch.checked_in_at, style) },
    { label: 'Last report', text: reportField(snitch, style) },
    ...dueFields(snitch),
    ...rulesFields(snitch),
    ...(needs.length > 0 ? [{ label: 'Needs', text: needs.join('\n') }] : []),
    { label: 'Alerts', text: snitch.alert_type },
    { label: 'Alert email', text: snitch.alert_email.join(', ') || 'the members of the case' },
    { label: 'Tags', text: snitch.tags.join(', ') },
    ...(snitch.public_name ? [{ label: 'Public name', text: snitch.public_name }] : []),
    { label: 'Notes', text: snitch.notes },
    { label: 'Token', text: snitch.token },
    { label: 'Check-in URL', text: snitch.check_in_url },
    { label: 'Created', text: exactTime(snitch.created_at, style) },
  ];
}
