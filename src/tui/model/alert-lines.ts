/** Draws the lists of alerts and of deliveries as lines. */
import type { WireAlert, WireDelivery } from '../../api/wire.ts';
import { whyUntold } from '../../core/explanation/told.ts';
import { printable } from '../../text/printable.ts';
import { ago } from '../../text/times.ts';
import type { Glyphs } from '../drawing/glyphs.ts';
import { asciiLines, clip, type Line, type Span, selectedLine } from '../drawing/line.ts';
import type { AlertsScreen } from './state.ts';
import { alertWord, deliveryLine } from './timeline-lines.ts';

export interface AlertsLook {
  width: number;
  height: number;
  glyphs: Glyphs;
  now: number;
}

/** The line with the names of both lists, and the rows that are on the screen. */
export function alertScreenLines(screen: AlertsScreen, look: AlertsLook): readonly Line[] {
  const rows = rowsOf(screen, look);
  const lines = [tabLine(screen), ...rows];
  return look.glyphs.unicode ? lines : asciiLines(lines);
}

function tabLine({ tab }: AlertsScreen): Line {
  const name = (which: AlertsScreen['tab'], text: string): Span => ({
    text: which === tab ? `[${text}]` : ` ${text} `,
    bold: which === tab,
    dim: which !== tab,
  });
  return [{ text: '  ' }, name('alerts', 'Alerts'), { text: ' ' }, name('deliveries', 'Deliveries')];
}

function rowsOf(screen: AlertsScreen, { width, height, glyphs, now }: AlertsLook): Line[] {
  const { tab, alerts, deliveries, error, cursor, top } = screen;
  if (error !== null) return [[{ text: `  ${error}`, color: 'red' }]];
  const all =
    tab === 'alerts'
      ? alerts?.map((alert) => alertLine(alert, now))
      : deliveries?.map((one) => deliveryRow(one, alerts ?? [], now));
  if (!all) return [[{ text: `  Reading${glyphs.ellipsis}`, dim: true }]];
  if (all.length === 0) return [[{ text: `  There are no ${tab} yet.`, dim: true }]];
  return all.slice(top, top + height).map((line, index) => {
    const isSelected = top + index === cursor;
    const spans = [{ text: isSelected ? `${glyphs.cursor} ` : '  ', bold: true }, ...line];
    return isSelected ? selectedLine(clip(spans, width), width) : spans;
  });
}

/** A delivery and what it is about. The previous status is shown only if its alert is among those that were read. */
function deliveryRow(delivery: WireDelivery, alerts: readonly WireAlert[], now: number): Line {
  const alert = alerts.find(({ id }) => id === delivery.alert);
  const { snitch = alert?.snitch, type } = delivery;
  const word = alert ? alertWord(alert) : printable((type ?? '').replace(/^(snitch|service)\./, ''));
  const about = word === '' ? '' : `${snitch ? `${printable(snitch.name)}: ` : ''}${word}  `;
  const [state, ...rest] = deliveryLine(delivery, now);
  return [...(state ? [state] : []), { text: about, bold: true }, ...rest];
}

function alertLine(alert: WireAlert, now: number): Line {
  const { timestamp, snitch } = alert;
  const subject = snitch ? printable(snitch.name) : noticeSubject(alert);
  return [
    { text: `${ago(Date.parse(timestamp), now).padEnd(12)}`, dim: true },
    { text: `${alertWord(alert).padEnd(24)}  ` },
    { text: `${subject}  `, bold: true },
    tallyOf(alert),
  ];
}

function noticeSubject({ notice, refusal }: WireAlert): string {
  return refusal
    ? `channel ${printable(refusal.channel.name)}`
    : `service, ${notice?.postponed_count ?? 0} postponed`;
}

/** Red if nobody was told, and nobody will be. */
function tallyOf(alert: WireAlert): Span {
  const { deliveries, notice } = alert;
  const isLost = deliveries.every(({ state }) => state === 'dead') && !notice;
  return { text: tally(alert), ...(isLost ? { color: 'red' as const } : { dim: true }) };
}

/** `2 delivered, 1 dead` */
function tally({ deliveries, notice }: WireAlert): string {
  if (deliveries.length === 0) return whyUntold(notice);
  const counts = new Map<string, number>();
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}
