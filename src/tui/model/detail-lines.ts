/** Everything about one snitch, as lines to scroll through. */
import type { WireSnitch } from '../../api/wire.ts';
import type { WireExplanation } from '../../api/wire-explanation.ts';
import type { WireAcknowledgement } from '../../api/wire-kept-back.ts';
import { didInWords } from '../../core/activity/words.ts';
import { runningLines } from '../../core/running.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import { compactDuration, runDuration } from '../../text/durations.ts';
import { outputLines, printable, printableLines } from '../../text/printable.ts';
import { ago, wallMinute, wallTime } from '../../text/times.ts';
import { toAscii, wrapWords } from '../../text/width.ts';
import { sparkline } from '../drawing/bar.ts';
import { type Glyphs, STATUS_COLOR } from '../drawing/glyphs.ts';
import type { Line } from '../drawing/line.ts';
import { silenceWords } from '../silences/silenced.ts';
import type { Entry } from './entry.ts';
import { durationsOf, medianOf, runFields } from './runs.ts';
import type { SnitchDetail } from './state.ts';
import { outcomesFor, stripSpans } from './table-lines.ts';
import { timelineLines, timeTo } from './timeline-lines.ts';
import { valueLines } from './value-lines.ts';

export interface DetailLook {
  width: number;
  glyphs: Glyphs;
  now: number;
}

const LABEL = 14;
const STRIP = 40;
const DURATIONS = 40;

/** How many of the last changes by people are shown. */
export const LOG_SHOWN = 5;

/** How many lines of a job's last output are shown. They are the last ones, which say why it failed. */
const OUTPUT_LINES = 200;

export function detailLines(
  entry: Entry,
  { detail, error }: { detail: SnitchDetail | null; error: string | null },
  look: DetailLook,
): readonly Line[] {
  const lines = [...headLines(entry, look), ...fieldLines(entry, detail, look)];
  if (error !== null) lines.push([], [{ text: error, color: 'red' }]);
  if (!detail)
    return [...lines, [], ...(error === null ? [[{ text: 'Reading…', dim: true }]] : [])].map(shownOn(look));
  lines.push(
    ...reasonLines(detail, look),
    ...historyLines(entry, detail, look),
    ...durationLines(detail, look),
    ...valueSection(detail, look),
  );
  lines.push(...outputSection(detail), ...logLines(detail, look), ...title('Timeline'));
  lines.push(...timelineLines(detail, look.now));
  return lines.map(shownOn(look));
}

function shownOn({ glyphs }: DetailLook): (line: Line) => Line {
  return (line) => (glyphs.unicode ? line : line.map((span) => ({ ...span, text: toAscii(span.text) })));
}

function headLines({ snitch: { status }, name }: Entry, { glyphs }: DetailLook): Line[] {
  return [
    [
      { text: `${glyphs.status[status]} ${status}  `, color: STATUS_COLOR[status], bold: true },
      { text: name, bold: true },
    ],
    [],
  ];
}

function fieldLines(entry: Entry, detail: SnitchDetail | null, look: DetailLook): Line[] {
  const { snitch, checkedInAt, createdAt, tags } = entry;
  const explanation = detail?.explanation;
  const timezone = explanation?.timezone ?? 'UTC';
  const fields: [string, string][] = [
    dueField(snitch, explanation?.timezone ?? 'time zone of the case'),
    ...silenced(snitch, explanation, look.now),
    ...(snitch.reason ? [['Why', printable(snitch.reason)] satisfies [string, string]] : []),
    ...needFields(snitch, timezone),
    ...(snitch.acknowledged
      ? [['Acknowledged', seenWords(snitch.acknowledged, look.now, timezone)] satisfies [string, string]]
      : []),
    ...(snitch.max_runtime
      ? [['Max runtime', compactDuration(snitch.max_runtime * 1_000)] satisfies [string, string]]
      : []),
    ...runningLines(explanation?.runs, (iso) => wallMinute(Date.parse(iso), timezone), look.now).map(
      (text, index) => [index === 0 ? 'Running' : '', text] satisfies [string, string],
    ),
    ['Last healthy', whenWas(checkedInAt, look.now, timezone)],
    ['Last report', lastReport(entry, look.now, timezone)],
    ['Deadline', deadlineWords(explanation, look.now)],
    ...runFields(detail, look.now),
    ['Tags', tags.join(', ') || 'none'],
    ['Alerts go to', explanation ? whoIsTold(explanation.notify) : ''],
    ['Check-in URL', printable(snitch.check_in_url)],
    ['Created', wallTime(createdAt, timezone)],
  ];
  const notes = printableLines(snitch.notes).flatMap((line) => wrapWords(line, look.width - LABEL));
  const rows = fields.flatMap(([label, text]) => labelled(label, wrapWords(text, look.width - LABEL)));
  return snitch.notes.trim() === '' ? rows : [...rows, ...labelled('Notes', notes)];
}

/** The silence over it, as last read, until it ends. */
function silenced(
  snitch: WireSnitch,
  explanation: WireExplanation | undefined,
  now: number,
): [string, string][] {
  const over = explanation ? explanation.silenced : snitch.silenced;
  if (!over || Date.parse(over.until) <= now) return [];
  return [['Silenced', printable(silenceWords(over, explanation?.timezone ?? 'UTC'))]];
}

/** What holds its alert back, and until when. The reasons below name what it needs. */
function needFields({ held }: WireSnitch, timezone: string): [string, string][] {
  if (!held) return [];
  const { by, since, until } = held;
  const who = by ? `by ${printable(by.name)} ` : '';
  const rest = until
    ? `told at ${wallTime(Date.parse(until), timezone)} if it is still silent then`
    : 'nobody was told';
  return [['Held', `${who}since ${wallTime(Date.parse(since), timezone)}: ${rest}`]];
}

function dueField(
  { schedule, timezone, interval, alert_type }: WireSnitch,
  caseZone: string,
): [string, string] {
  if (schedule) return ['Schedule', printable(scheduleWithZone(schedule, timezone, caseZone))];
  return ['Interval', `${interval}, ${alert_type}`];
}

/** `by Ann, 10m ago, 2026-03-14 12:50:00: on it` */
function seenWords({ by, at, note }: WireAcknowledgement, now: number, timezone: string): string {
  const said = note === null ? '' : `: ${printable(note)}`;
  return `by ${printable(by)}, ${whenWas(Date.parse(at), now, timezone)}${said}`;
}

function whenWas(at: number | null, now: number, timezone: string): string {
  return at === null ? 'never' : `${ago(at, now)}, ${wallTime(at, timezone)}`;
}

/** `10m ago, 2026-03-14 12:50:00, error, exit 2: disk full` */
function lastReport({ snitch, reportedAt, said }: Entry, now: number, timezone: string): string {
  const outcome = snitch.last_report?.outcome === 'error' ? 'error' : '';
  return [whenWas(reportedAt, now, timezone), outcome, said].filter((part) => part !== '').join(', ');
}

function deadlineWords(explanation: WireExplanation | undefined, now: number): string {
  const { deadline, missing_since: missingSince } = explanation ?? {};
  if (deadline) return `${timeTo(Date.parse(deadline.at), now)}, ${printable(deadline.local)}`;
  if (!missingSince || !explanation) return 'none is awaited';
  const at = Date.parse(missingSince);
  return `overdue by ${compactDuration(Math.max(0, now - at))}: it was ${wallTime(at, explanation.timezone)}`;
}

function labelled(label: string, texts: readonly string[]): Line[] {
  return texts.map((text, index) => [
    { text: (index === 0 ? label : '').padEnd(LABEL), dim: true },
    { text },
  ]);
}

function whoIsTold({
  emails,
  webhooks,
  channels = [],
  failing = [],
  sends_email,
}: SnitchDetail['explanation']['notify']): string {
  const off = sends_email === false && emails.length > 0;
  const lost = new Set(failing.map(({ name }) => name));
  const targets = [...(off ? [] : emails), ...webhooks, ...channels]
    .map((name) => `${printable(name)}${lost.has(name) ? ' (in vain)' : ''}`)
    .join(', ');
  if (!off) return targets || 'nobody: no member, webhook or channel takes them';
  return targets ? `${targets}; email is off` : 'nobody: email is off, and no webhook or channel takes them';
}

function title(text: string): Line[] {
  return [[], [{ text, bold: true }]];
}

function reasonLines({ explanation: { reasons } }: SnitchDetail, { width }: DetailLook): Line[] {
  return [
    ...title('Why'),
    ...reasons.flatMap((reason) => wrapWords(printable(reason), width).map((text) => [{ text }])),
  ];
}

function historyLines(
  entry: Entry,
  { explanation, checkIns }: SnitchDetail,
  { glyphs, width }: DetailLook,
): Line[] {
  const { period, timezone } = explanation;
  const detail = {
    timezone,
    period: { start: Date.parse(period.start), end: Date.parse(period.end) },
    checkIns,
    more: checkIns.length === 100,
  };
  const legend = (['met', 'missed', 'errored', 'paused', 'open'] as const).map(
    (outcome) => `${glyphs.period[outcome]} ${outcome}`,
  );
  const strip = stripSpans(outcomesFor(entry, detail, Math.min(STRIP, width)), glyphs);
  return [...title('Last periods'), strip, [{ text: legend.join('  '), dim: true }]];
}

function durationLines({ checkIns }: SnitchDetail, { glyphs, width }: DetailLook): Line[] {
  const durations = durationsOf(checkIns);
  const middle = medianOf(durations);
  if (middle === null) return [];
  const shown = durations.slice(0, Math.min(DURATIONS, width)).reverse();
  const words = `last ${runDuration(durations[0] ?? 0)}, median ${runDuration(middle)}, longest ${runDuration(Math.max(...durations))}`;
  return [
    ...title('Durations'),
    [{ text: sparkline(shown, glyphs), color: 'cyan' }],
    [{ text: words, dim: true }],
  ];
}

function valueSection({ checkIns, explanation: { values = [] } }: SnitchDetail, look: DetailLook): Line[] {
  return values.length === 0 ? [] : [...title('Values'), ...valueLines(checkIns, values, look)];
}

function outputSection({ checkIns }: SnitchDetail): Line[] {
  const last = checkIns.find(({ output }) => output !== null && output.trim() !== '');
  if (!last?.output) return [];
  const lines = outputLines(last.output.trimEnd()).slice(-OUTPUT_LINES);
  return [...title('Last output'), ...lines.map((text) => [{ text }])];
}

/** Who changed it last, and how. */
function logLines({ log = [], explanation: { timezone } }: SnitchDetail, { width }: DetailLook): Line[] {
  if (log.length === 0) return [];
  const local = (iso: string) => wallMinute(Date.parse(iso), timezone);
  const lines = log.slice(0, LOG_SHOWN).flatMap((entry): Line[] => {
    const time = `${wallTime(Date.parse(entry.at), timezone)}  `;
    const words = printable(`${entry.by.name} ${didInWords(entry, local, 'it')}`);
    const [first = '', ...rest] = wrapWords(words, width - time.length);
    const heading: Line = [{ text: time, dim: true }, { text: first }];
    return [heading, ...rest.map((text): Line => [{ text: `${' '.repeat(time.length)}${text}` }])];
  });
  return [...title('Last changes'), ...lines];
}
