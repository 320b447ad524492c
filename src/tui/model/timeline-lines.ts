/** What happened to one snitch, newest first, as lines: check-ins, and alerts with their deliveries. */
import type { WireAlert, WireCheckIn, WireDelivery } from '../../api/wire.ts';
import { compactDuration, runDuration } from '../../text/durations.ts';
import { printable } from '../../text/printable.ts';
import { ago, wallTime } from '../../text/times.ts';
import type { Color } from '../drawing/glyphs.ts';
import type { Line, Span } from '../drawing/line.ts';
import type { SnitchDetail } from './state.ts';

const TIMELINE = 60;

export function timelineLines({ checkIns, alerts, explanation }: SnitchDetail, now: number): Line[] {
  const { timezone } = explanation;
  const moments = [
    ...checkIns.map((checkIn) => ({ at: Date.parse(checkIn.at), lines: [checkInLine(checkIn)] })),
    ...alerts.map((alert) => ({ at: Date.parse(alert.timestamp), lines: alertLines(alert, now) })),
  ];
  moments.sort((a, b) => b.at - a.at);
  const lines = moments
    .slice(0, TIMELINE)
    .flatMap(({ at, lines: [first = [], ...rest] }) => [
      [{ text: `${wallTime(at, timezone)}  `, dim: true }, ...first],
      ...rest.map((line) => [{ text: '  ' }, ...line]),
    ]);
  return lines.length > 0 ? lines : [[{ text: 'Nothing happened yet.', dim: true }]];
}

const OUTCOME_COLOR: Partial<Record<WireCheckIn['outcome'], Color>> = { healthy: 'green', error: 'yellow' };

function checkInLine({ outcome, exit_status, message, duration_ms, reason }: WireCheckIn): Line {
  const color = OUTCOME_COLOR[outcome];
  const word = outcome === 'healthy' || outcome === 'error' ? 'check-in' : outcome;
  const parts = [
    outcome === 'error' ? 'error' : '',
    exit_status === null || exit_status === 0 ? '' : `exit ${exit_status}`,
    duration_ms === null ? '' : `took ${runDuration(duration_ms)}`,
    reason ? printable(reason) : '',
    message === null ? '' : printable(message),
  ].filter((part) => part !== '');
  return [
    { text: word, ...(color ? { color } : {}) },
    { text: parts.length > 0 ? `  ${parts.join(', ')}` : '' },
  ];
}

function alertLines(alert: WireAlert, now: number): Line[] {
  return [
    [
      { text: `alert: ${alertWord(alert)}`, bold: true },
      ...(alert.reason === undefined ? [] : [{ text: `  ${printable(alert.reason)}` }]),
    ],
    ...alert.deliveries.map((delivery) => deliveryLine(delivery, now)),
  ];
}

/** `missing, was healthy` */
export function alertWord({ type, snitch, flapping }: WireAlert): string {
  const word = `${flapping ? `${flapping.changes} changes, ` : ''}${printable(type.replace(/^snitch\./, ''))}`;
  return snitch ? `${word}, was ${printable(snitch.previous_status)}` : word;
}

const STATE_COLOR: Partial<Record<WireDelivery['state'], Color>> = {
  pending: 'yellow',
  delivered: 'green',
  dead: 'red',
};

export function deliveryLine(
  { channel, target, state, attempts, last_error, next_attempt_at, delivered_at, waits }: WireDelivery,
  now: number,
): Line {
  const spans: Span[] = [
    { text: state.padEnd(10), color: STATE_COLOR[state] ?? 'gray' },
    { text: `${channel.padEnd(8)}${printable(target)}` },
  ];
  if (state === 'dropped') spans.push({ text: `  ${printable(last_error ?? 'its time has passed')}` });
  else if (state !== 'delivered' && last_error !== null) {
    spans.push({
      text: `  after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${printable(last_error)}`,
    });
  }
  if (state === 'pending' && next_attempt_at !== null) {
    spans.push({
      text: `  ${waits ? 'waits, ' : ''}next ${timeTo(Date.parse(next_attempt_at), now)}`,
      dim: true,
    });
  }
  if (state === 'delivered' && delivered_at !== null)
    spans.push({ text: `  ${ago(Date.parse(delivered_at), now)}`, dim: true });
  return spans;
}

export function timeTo(at: number, now: number): string {
  return at <= now ? 'now' : `in ${compactDuration(at - now)}`;
}
