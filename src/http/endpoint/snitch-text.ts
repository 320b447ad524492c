import type { LastReport } from '../../core/check-in.ts';
import { isAwaited, type ListedSnitch } from '../../core/snitch.ts';
import { isoTime } from '../../text/iso-time.ts';
import { wireSilenced } from './silenced.ts';
import { type Shown, wireAcknowledged, wireReason } from './wire.ts';
import { wireHold } from './wire-hold.ts';

/**
 * The very text of `JSON.stringify(wireSnitch(snitch, shown))`, in half of the time: a list may have a million of
 * them. A test compares the two.
 */
export function snitchText(snitch: ListedSnitch, { checkInBase, timezone }: Shown): string {
  const { token, state } = snitch;
  const inPath = encodeURIComponent(token);
  const interval = text(state.interval);
  return `{"token":${text(token)},"href":${text(`/v1/snitches/${inPath}`)},"name":${text(snitch.name)}\
,"public_name":${text(snitch.publicName ?? null)},"tags":${texts(snitch.tags)},"notes":${text(snitch.notes)},"status":"${state.status}"\
,"reason":${text(wireReason(state, timezone))},"checked_in_at":${time(state.checkedInAt)},"last_report":${report(snitch.lastReport)}\
,"check_in_url":${text(`${checkInBase}/${inPath}`)},"interval":${interval},"type":{"interval":${interval}}\
,"alert_type":"${state.alertType}","alert_email":${texts(snitch.alertEmail)}\
,"schedule":${state.schedule === null ? 'null' : JSON.stringify(state.schedule)}\
,"timezone":${text(state.timezone)},"grace":${state.grace}\
,"deadline":${time(isAwaited(state) ? state.dueAt : null)},"missing_since":${time(snitch.missingSince)}\
,"silenced":${snitch.silenced ? JSON.stringify(wireSilenced(snitch.silenced)) : 'null'}\
,"max_runtime":${state.maxRuntime},"min_runtime":${state.minRuntime}\
,"failures_before_alert":${state.failuresBeforeAlert}\
,"expect":${state.expect === null ? 'null' : JSON.stringify(state.expect)}\
,"acknowledged":${state.acknowledged === null ? 'null' : JSON.stringify(wireAcknowledged(state))}\
,"needs":${texts(snitch.needs)},"held":${snitch.hold === null ? 'null' : JSON.stringify(wireHold(snitch.hold))}\
,"created_at":${time(snitch.createdAt)}}`;
}

function report(last: LastReport | null): string {
  if (last === null) return 'null';
  const { at, outcome, exitStatus, message, reason } = last;
  const why = reason === undefined ? '' : `,"reason":${text(reason)}`;
  return `{"at":${time(at)},"outcome":"${outcome}","exit_status":${exitStatus},"message":${text(message)}${why}}`;
}

function time(at: number | null): string {
  return at === null ? 'null' : `"${isoTime(at)}"`;
}

function text(value: string | null): string {
  if (value === null) return 'null';
  return value === '' ? '""' : JSON.stringify(value);
}

function texts(values: readonly string[]): string {
  return values.length === 0 ? '[]' : JSON.stringify(values);
}
