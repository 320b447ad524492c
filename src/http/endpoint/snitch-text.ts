import type { LastReport } from '../../core/check-in.ts';
import { isAwaited, type ListedSnitch } from '../../core/snitch.ts';
import { isoTime } from '../../text/iso-time.ts';
import { wireSilenced } from './silenced.ts';
import { type Shown, wireAcknowledged, wireReason } from './wire.ts';
import { wireHold } from './wire-hold.ts';

/**
 * The very text of `JSON.stringify(wireSnitch(snitch, shown))`, in less than half of the time: a list may have a million of
 * them. It is put together of few pieces, since each of them costs: what most snitches have nothing of is one of them.
 * A test compares the two.
 */
export function snitchText(snitch: ListedSnitch, { checkInBase, timezone }: Shown): string {
  const { token, state } = snitch;
  const inPath = PLAIN.test(token) ? token : encodeURIComponent(token);
  const checkInUrl = textOfBase(checkInBase);
  const { interval } = state;
  const checkedInAt = time(state.checkedInAt);
  return `{"token":${text(token)},"href":"/v1/snitches/${inPath}","name":${text(snitch.name)}\
,"public_name":${text(snitch.publicName ?? null)},"tags":${texts(snitch.tags)},"notes":${text(snitch.notes)},"status":"${state.status}"\
,"reason":${text(wireReason(state, timezone))},"checked_in_at":${checkedInAt},"last_report":${report(snitch.lastReport, state.checkedInAt, checkedInAt)}\
,"check_in_url":${checkInUrl}/${inPath}","interval":"${interval}","type":{"interval":"${interval}"}\
,"alert_type":"${state.alertType}","alert_email":${texts(snitch.alertEmail)}${schedule(state)}\
,"deadline":${time(isAwaited(state) ? state.dueAt : null)},"missing_since":${time(snitch.missingSince)}\
${hasNothingMore(snitch) ? NOTHING_MORE : more(snitch)},"created_at":${time(snitch.createdAt)}}`;
}

/** What a path shows as it is, and JSON too. */
const PLAIN = /^[\w-]+$/;

const NO_SCHEDULE = ',"schedule":null,"timezone":null,"grace":null';

function schedule({ schedule, timezone, grace }: ListedSnitch['state']): string {
  if (schedule === null && timezone === null && grace === null) return NO_SCHEDULE;
  return `,"schedule":${schedule === null ? 'null' : JSON.stringify(schedule)}\
,"timezone":${text(timezone)},"grace":${grace}`;
}

type More = Pick<ListedSnitch, 'silenced' | 'needs' | 'hold'> & {
  state: Pick<
    ListedSnitch['state'],
    'maxRuntime' | 'minRuntime' | 'failuresBeforeAlert' | 'expect' | 'acknowledged'
  >;
};

function more({ state, silenced, needs, hold }: More): string {
  return `,"silenced":${silenced ? JSON.stringify(wireSilenced(silenced)) : 'null'}\
,"max_runtime":${state.maxRuntime},"min_runtime":${state.minRuntime}\
,"failures_before_alert":${state.failuresBeforeAlert}\
,"expect":${state.expect === null ? 'null' : JSON.stringify(state.expect)}\
,"acknowledged":${state.acknowledged === null ? 'null' : JSON.stringify(wireAcknowledged(state))}\
,"needs":${texts(needs)},"held":${hold === null ? 'null' : JSON.stringify(wireHold(hold))}`;
}

function hasNothingMore({ state, silenced, needs, hold }: More): boolean {
  return (
    state.maxRuntime === null &&
    state.minRuntime === null &&
    state.failuresBeforeAlert === 1 &&
    state.expect === null &&
    state.acknowledged === null &&
    hold === null &&
    !silenced &&
    needs.length === 0
  );
}

const NOTHING_MORE = more({
  state: { maxRuntime: null, minRuntime: null, failuresBeforeAlert: 1, expect: null, acknowledged: null },
  needs: [],
  hold: null,
});

/** Most often it is the check-in whose time was written just before. */
function report(last: LastReport | null, checkedInAt: number | null, written: string): string {
  if (last === null) return 'null';
  const { at, outcome, exitStatus, message, reason } = last;
  const instant = at === checkedInAt ? written : time(at);
  if (exitStatus === null && message === null && reason === undefined)
    return `{"at":${instant},"outcome":"${outcome}","exit_status":null,"message":null}`;
  const why = reason === undefined ? '' : `,"reason":${text(reason)}`;
  return `{"at":${instant},"outcome":"${outcome}","exit_status":${exitStatus},"message":${text(message)}${why}}`;
}

function time(at: number | null): string {
  return at === null ? 'null' : `"${isoTime(at)}"`;
}

function text(value: string | null): string {
  if (value === null) return 'null';
  return value === '' ? '""' : JSON.stringify(value);
}

/** The tags that were written last: neighbours in a list often have the same. */
let known: { values: readonly string[]; text: string } = { values: [], text: '[]' };

function texts(values: readonly string[]): string {
  if (values.length === 0) return '[]';
  if (values !== known.values) known = { values, text: JSON.stringify(values) };
  return known.text;
}

let base = { shown: '', text: '"' };

/** Without the quotation mark at its end. */
function textOfBase(shown: string): string {
  if (base.shown !== shown) base = { shown, text: JSON.stringify(shown).slice(0, -1) };
  return base.text;
}
