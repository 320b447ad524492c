/** How a snitch is shown: in lists, alone, and its status as a word with a symbol and a colour. */
import type { WireSnitch, WireStatus } from '../api/wire.ts';
import { exactTime, type Field, shownTime, type View } from './output.ts';
import type { Paint, Style } from './style.ts';

/** From the one that needs attention most. */
export const STATUSES: readonly WireStatus[] = ['failed', 'errored', 'pending', 'paused', 'healthy'];

/** The symbols are one column wide in every terminal, and differ without colour. */
const LOOKS: Record<WireStatus, { symbol: string; paint: Paint }> = {
  healthy: { symbol: '✓', paint: 'green' },
  failed: { symbol: '✗', paint: 'red' },
  errored: { symbol: '!', paint: 'magenta' },
  paused: { symbol: '=', paint: 'yellow' },
  pending: { symbol: '?', paint: 'cyan' },
};

/** The word alone where a program reads it. */
export function statusText(status: WireStatus, { terminal }: Pick<Style, 'terminal'>): string {
  return terminal && Object.hasOwn(LOOKS, status) ? `${LOOKS[status].symbol} ${status}` : status;
}

export function statusPaint(status: WireStatus): Paint | null {
  return Object.hasOwn(LOOKS, status) ? LOOKS[status].paint : null;
}

export const SNITCH_VIEW: View<WireSnitch> = {
  name: ({ name }) => name,
  id: ({ token }) => token,
  empty: 'no snitches: make one with `snitch create NAME --interval daily`',
  columns: [
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 12 },
    {
      header: 'STATUS',
      cell: ({ status }, style) => statusText(status, style),
      paint: ({ status }) => statusPaint(status),
    },
    { header: 'LAST CHECK-IN', cell: ({ checked_in_at }, style) => shownTime(checked_in_at, style) },
    { header: 'INTERVAL', cell: ({ interval }) => interval, optional: true },
    { header: 'TAGS', cell: ({ tags }) => tags.join(', '), shrinkTo: 8, optional: true },
    { header: 'TOKEN', cell: ({ token }) => token, paint: () => 'dim', optional: true },
    { header: 'ALERTS', cell: ({ alert_type }) => alert_type, wide: true },
    { header: 'ALERT EMAIL', cell: ({ alert_email }) => alert_email.join(', '), wide: true },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), wide: true },
    { header: 'CHECK-IN URL', cell: ({ check_in_url }) => check_in_url, wide: true },
  ],
};

export function snitchFields(snitch: WireSnitch, style: Style): Field[] {
  return [
    { label: 'Name', text: snitch.name, paint: 'bold' },
    { label: 'Status', text: statusText(snitch.status, style), paint: statusPaint(snitch.status) },
    { label: 'Last check-in', text: exactTime(snitch.checked_in_at, style) },
    { label: 'Interval', text: snitch.interval },
    { label: 'Alerts', text: snitch.alert_type },
    { label: 'Alert email', text: snitch.alert_email.join(', ') || 'the members of the case' },
    { label: 'Tags', text: snitch.tags.join(', ') },
    { label: 'Notes', text: snitch.notes },
    { label: 'Token', text: snitch.token },
    { label: 'Check-in URL', text: snitch.check_in_url },
    { label: 'Created', text: exactTime(snitch.created_at, style) },
  ];
}
