/** Draws the table as lines: its titles, and one line for each snitch. */
import { compactDuration } from '../../text/durations.ts';
import { fit, fitRight, toAscii } from '../../text/width.ts';
import { bar, urgency } from '../drawing/bar.ts';
import { type Glyphs, PERIOD_COLOR, STATUS_COLOR } from '../drawing/glyphs.ts';
import { type Line, type Span, selectedLine } from '../drawing/line.ts';
import { lastPeriods, shortInterval } from '../drawing/periods.ts';
import { outcomesOf, type PeriodOutcome } from '../drawing/strip.ts';
import type { Arrangement } from './collection.ts';
import { type Column, type ColumnId, GAP, GUTTER } from './columns.ts';
import type { Entry } from './entry.ts';
import { SORT_KEYS, type SortKey } from './order.ts';
import type { RowDetail } from './state.ts';

/** The column that shows what the table is sorted by. The time of creation has none. */
const SORT_COLUMN: Partial<Record<SortKey, ColumnId>> = {
  due: 'due',
  status: 'status',
  name: 'name',
  'check-in': 'last',
  interval: 'interval',
};

/** The sort order of the column at this place in the line; undefined if there is none. */
export function sortKeyAt(place: number, columns: readonly Column[]): SortKey | undefined {
  let start = GUTTER;
  for (const { id, width } of columns) {
    if (place < start + width) {
      return SORT_KEYS.find((key) => place >= start && SORT_COLUMN[key] === (id === 'bar' ? 'due' : id));
    }
    start += width + GAP;
  }
  return undefined;
}

/** @param order the order whose column is marked; null to mark none */
export function titleLine(
  columns: readonly Column[],
  order: Pick<Arrangement, 'sort' | 'reverse'> | null,
  glyphs: Glyphs,
): Line {
  const titles = columns.map(({ title, width, id }) => {
    const mark = order && SORT_COLUMN[order.sort] === id ? glyphs.sorted[order.reverse ? 'up' : 'down'] : '';
    return isNumber(id) ? fitRight(title + mark, width) : fit(title + mark, width);
  });
  return [{ text: ' '.repeat(GUTTER) + titles.join(' '.repeat(GAP)), bold: true, dim: true }];
}

function isNumber(id: Column['id']): boolean {
  return id === 'last' || id === 'due';
}

export interface RowLook {
  columns: readonly Column[];
  /** Columns of the screen. */
  width: number;
  glyphs: Glyphs;
  now: number;
  detail: RowDetail | undefined;
  isSelected: boolean;
  isMarked: boolean;
  /** Whether a silence holds back its alarms. */
  isSilenced?: boolean;
}

export function rowLine(entry: Entry, look: RowLook): Line {
  const { columns, glyphs, isSelected, isMarked } = look;
  const gutter: Span = {
    text: (isSelected ? glyphs.cursor : ' ') + (isMarked ? glyphs.mark : ' '),
    bold: true,
  };
  const spans: Span[] = [gutter];
  columns.forEach((column, index) => {
    if (index > 0) spans.push({ text: ' '.repeat(GAP) });
    spans.push(...cell(column, entry, look));
  });
  return isSelected ? selectedLine(spans, look.width) : spans;
}

function cell({ id, width }: Column, entry: Entry, look: RowLook): Line {
  const { glyphs, now } = look;
  const { status, interval, acknowledged, held } = entry.snitch;
  // The sign and the colour still say what is wrong. `held` means that nobody was told about it.
  const word = acknowledged ? 'acked' : held ? 'held' : status;
  const text = (value: string) => fit(glyphs.unicode ? value : toAscii(value), width, glyphs.ellipsis);
  switch (id) {
    case 'status':
      return [{ text: text(`${glyphs.status[status]} ${word}`), color: STATUS_COLOR[status] }];
    case 'name':
      return nameCell(entry, look, text);
    case 'interval':
      return [{ text: text(shortInterval(interval)) }];
    case 'last':
      return [{ text: fitRight(lastCheckIn(entry, now), width) }];
    case 'due':
      return [{ text: fitRight(timeLeft(entry, look), width, glyphs.ellipsis) }];
    case 'bar':
      return barCell(entry, look, width);
    case 'history':
      return look.detail
        ? stripSpans(outcomesFor(entry, look.detail, width), glyphs)
        : [{ text: ' '.repeat(width) }];
    case 'tags':
      return [{ text: text(entry.tags.join(' ')), dim: true }];
    case 'said':
      return [{ text: text(entry.said), dim: true }];
  }
}

function nameCell(entry: Entry, { glyphs, isSilenced }: RowLook, text: (value: string) => string): Line {
  const { status, acknowledged } = entry.snitch;
  const bold = !acknowledged && (status === 'failed' || status === 'errored');
  if (!isSilenced) return [{ text: text(entry.name), bold }];
  // Cut together: the mark takes its space from the name.
  return [{ text: text(`${glyphs.silenced} ${entry.name}`), bold, dim: true }];
}

function lastCheckIn({ reportedAt }: Entry, now: number): string {
  return reportedAt === null ? 'never' : compactDuration(Math.max(0, now - reportedAt));
}

/** The time left, negative after a missed deadline; `due` until the sweep decides, `-` if nothing is awaited. */
function timeLeft(entry: Entry, look: RowLook): string {
  const { detail, glyphs, now } = look;
  const { status } = entry.snitch;
  if (status === 'failed') return overdue(entry, detail, now);
  if (status !== 'healthy' && status !== 'errored') return '-';
  const at = deadlineOf(entry, look);
  if (at === undefined) return glyphs.ellipsis;
  if (at === null) return '-';
  return at <= now ? 'due' : compactDuration(at - now);
}

/** Undefined until it is known. A silence moves the deadline that came with the list; the details are read again. */
function deadlineOf(
  { deadlineAt }: Entry,
  { detail, isSilenced }: Pick<RowLook, 'detail' | 'isSilenced'>,
): number | null | undefined {
  if (isSilenced && detail) return detail.deadlineAt;
  return deadlineAt === undefined ? detail?.deadlineAt : deadlineAt;
}

function overdue({ missingSince }: Entry, detail: RowDetail | undefined, now: number): string {
  const since = missingSince ?? detail?.missingSince ?? null;
  return since === null || since > now ? 'missed' : `-${compactDuration(now - since)}`;
}

function barCell(entry: Entry, look: RowLook, width: number): Line {
  const { now, glyphs } = look;
  const { checkedInAt, length } = entry;
  const { status } = entry.snitch;
  const isAwaited = status === 'healthy' || status === 'errored';
  const deadlineAt = deadlineOf(entry, look);
  if (!isAwaited || !deadlineAt) return [{ text: ' '.repeat(width) }];
  // The bar is full at the last check-in, but no more than two intervals before the deadline, which may have been
  // restarted since.
  const from = Math.max(checkedInAt ?? 0, deadlineAt - 2 * length);
  const fraction = (deadlineAt - now) / Math.max(1, deadlineAt - from);
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

/** Neighbours of the same colour share a span, because a screen has thousands of them. */
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
