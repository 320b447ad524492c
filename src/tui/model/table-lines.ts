/** The table as lines: its titles, and one line per snitch. */
import { bar, urgency } from './bar.ts';
import { type Column, GAP, GUTTER } from './columns.ts';
import type { Entry } from './entry.ts';
import { type Glyphs, PERIOD_COLOR, STATUS_COLOR } from './glyphs.ts';
import type { Line, Span } from './line.ts';
import { lastPeriods, shortInterval } from './periods.ts';
import type { RowDetail } from './state.ts';
import { outcomesOf, type PeriodOutcome } from './strip.ts';
import { fit, fitRight, toAscii } from './text.ts';
import { shortDuration } from './times.ts';

export function titleLine(columns: readonly Column[]): Line {
  const titles = columns.map(({ title, width, id }) =>
    isNumber(id) ? fitRight(title, width) : fit(title, width),
  );
  return [{ text: ' '.repeat(GUTTER) + titles.join(' '.repeat(GAP)), bold: true, dim: true }];
}

function isNumber(id: Column['id']): boolean {
  return id === 'last' || id === 'left';
}

export interface RowLook {
  columns: readonly Column[];
  glyphs: Glyphs;
  now: number;
  detail: RowDetail | undefined;
  isSelected: boolean;
  isMarked: boolean;
}

export function rowLine(entry: Entry, look: RowLook): Line {
  const { columns, glyphs, isSelected, isMarked } = look;
  const gutter: Span = {
    inverse: isSelected,
    text: (isSelected ? glyphs.cursor : ' ') + (isMarked ? glyphs.mark : ' '),
    bold: true,
  };
  const spans: Span[] = [gutter];
  columns.forEach((column, index) => {
    // What is drawn with characters says the opposite when it is inverted.
    const inverse = isSelected && column.id !== 'bar' && column.id !== 'history';
    if (index > 0) spans.push({ text: ' '.repeat(GAP), inverse });
    spans.push(...cell(column, entry, look).map((span) => ({ ...span, inverse })));
  });
  return spans;
}

function cell({ id, width }: Column, entry: Entry, look: RowLook): Line {
  const { glyphs, now } = look;
  const { status, interval } = entry.snitch;
  const text = (value: string) => fit(glyphs.unicode ? value : toAscii(value), width, glyphs.ellipsis);
  switch (id) {
    case 'status':
      return [{ text: text(`${glyphs.status[status]} ${status}`), color: STATUS_COLOR[status] }];
    case 'name':
      return [{ text: text(entry.name), bold: status === 'failed' || status === 'errored' }];
    case 'interval':
      return [{ text: text(shortInterval(interval)) }];
    case 'last':
      return [{ text: fitRight(lastCheckIn(entry, now), width) }];
    case 'left':
      return [{ text: fitRight(timeLeft(entry, look), width, glyphs.ellipsis) }];
    case 'bar':
      return barCell(entry, look, width);
    case 'history':
      return look.detail
        ? stripSpans(outcomesFor(entry, look.detail, width), glyphs)
        : [{ text: ' '.repeat(width) }];
    case 'tags':
      return [{ text: text(entry.tags.join(' ')), dim: true }];
  }
}

function lastCheckIn({ checkedInAt }: Entry, now: number): string {
  return checkedInAt === null ? 'never' : shortDuration(Math.max(0, now - checkedInAt));
}

/** Empty while nothing is awaited; a stretch of time, or `due` in the moments before the sweep decides. */
function timeLeft({ snitch: { status } }: Entry, { detail, glyphs, now }: RowLook): string {
  if (status !== 'healthy' && status !== 'errored') return status === 'failed' ? 'missed' : '-';
  if (!detail) return glyphs.ellipsis;
  if (detail.deadlineAt === null) return glyphs.ellipsis;
  return detail.deadlineAt <= now ? 'due' : shortDuration(detail.deadlineAt - now);
}

function barCell({ snitch: { status }, checkedInAt, length }: Entry, look: RowLook, width: number): Line {
  const { detail, now, glyphs } = look;
  const isAwaited = status === 'healthy' || status === 'errored';
  if (!isAwaited || !detail?.deadlineAt) return [{ text: ' '.repeat(width) }];
  // A deadline that was restarted after the check-in counts from that restart, at most two intervals before it.
  const from = Math.max(checkedInAt ?? 0, detail.deadlineAt - 2 * length);
  const fraction = (detail.deadlineAt - now) / Math.max(1, detail.deadlineAt - from);
  const { filled, rest } = bar(fraction, width, glyphs);
  return [
    { text: filled, color: urgency(fraction) },
    { text: rest, dim: true },
  ];
}

/** The outcomes of the last `count` periods of a snitch. */
export function outcomesFor(
  entry: Entry,
  detail: Pick<RowDetail, 'timezone' | 'period' | 'checkIns' | 'more'>,
  count: number,
): PeriodOutcome[] {
  const { interval, status } = entry.snitch;
  const periods = lastPeriods(interval, detail.timezone, detail.period, count);
  const newest = detail.checkIns[0];
  const pausedSince = status !== 'paused' ? null : newest ? Date.parse(newest.at) : entry.createdAt;
  return outcomesOf(periods, {
    checkIns: detail.checkIns,
    more: detail.more,
    createdAt: entry.createdAt,
    pausedSince,
  });
}

/** Neighbours of one colour share a span: there are thousands of them on a screen. */
export function stripSpans(outcomes: readonly PeriodOutcome[], glyphs: Glyphs): Line {
  const spans: Span[] = [];
  for (const outcome of outcomes) {
    const color = PERIOD_COLOR[outcome];
    const last = spans.at(-1);
    if (last && last.color === color) last.text += glyphs.period[outcome];
    else spans.push({ text: glyphs.period[outcome], color });
  }
  return spans;
}
