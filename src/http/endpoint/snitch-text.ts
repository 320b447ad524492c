import type { LastReport } from '../../core/check-in.ts';
import { isAwaited, type ListedSnitch } from '../../core/snitch.ts';
import { quotedIsoTime } from '../../text/iso-time.ts';
import { wireSilenced } from './silenced.ts';
import { type Shown, wireAcknowledged, wireReason } from './wire.ts';
import { wireHold } from './wire-hold.ts';

/**
 * Exactly the text of `JSON.stringify(wireSnitch(snitch, shown))`, in a fraction of the time: a list may have a million
 * of them. It is joined from few pieces, since each of them costs: one is what neighbours in a list mostly have in
 * common, another is the fields that are empty in most snitches. A test compares the two.
 */
export function snitchText(snitch: ListedSnitch, { checkInBase, timezone }: Shown): string {
  const { token, state } = snitch;
  const isPlain = PLAIN.test(token);
  const inText = isPlain ? token : text(token).slice(1, -1);
  const inPath = isPlain ? token : encodeURIComponent(token);
  const checkedInAt = time(state.checkedInAt);
  return `{"token":"${inText}","href":"/v1/snitches/${inPath}","name":${text(snitch.name)}${described(snitch, timezone)}\
${checkedInAt}${report(snitch.lastReport, state.checkedInAt, checkedInAt)}${beginOfUrl(checkInBase)}${inPath}\
${planned(snitch)}${deadline(isAwaited(state) ? state.dueAt : null)}${hasNothingMore(snitch) ? NOTHING_MORE : more(snitch)}\
${time(snitch.createdAt)}}`;
}

/** Text that needs no escaping in a path or in JSON. */
const PLAIN = /^[\w-]+$/;

type Described = Pick<ListedSnitch, 'publicName' | 'tags' | 'notes'> & Pick<ListedSnitch['state'], 'status'>;

/** The description that was written last. */
let lastDescribed: Described & { text: string } = {
  publicName: null,
  tags: [],
  notes: '',
  status: 'pending',
  text: '',
};

/** From the name to the last check-in. */
function described({ publicName = null, tags, notes, state }: ListedSnitch, timezone: string): string {
  const { status, reason } = state;
  const last = lastDescribed;
  const isKnown =
    last.tags === tags && last.notes === notes && last.status === status && last.publicName === publicName;
  if (isKnown && reason === null) return last.text;
  const written = `,"public_name":${text(publicName)},"tags":${texts(tags)},"notes":${text(notes)}\
,"status":"${status}","reason":${text(wireReason(state, timezone))},"checked_in_at":`;
  if (reason === null) lastDescribed = { publicName, tags, notes, status, text: inOnePiece(written) };
  return written;
}

type Planned = Pick<ListedSnitch['state'], 'interval' | 'alertType'>;

/** The last plan written, of a snitch without a schedule and addresses of its own. */
let lastPlanned: Planned & { text: string } = { interval: 'daily', alertType: 'basic', text: '' };

/** From the end of its address for check-ins to the deadline. */
function planned({ alertEmail, state }: ListedSnitch): string {
  const { interval, alertType } = state;
  const isUsual = alertEmail.length === 0 && hasNoSchedule(state);
  const last = lastPlanned;
  if (isUsual && last.text !== '' && last.interval === interval && last.alertType === alertType)
    return last.text;
  const written = `","interval":"${interval}","type":{"interval":"${interval}"},"alert_type":"${alertType}"\
,"alert_email":${texts(alertEmail)}${schedule(state)},"deadline":`;
  if (isUsual) lastPlanned = { interval, alertType, text: inOnePiece(written) };
  return written;
}

const NO_SCHEDULE = ',"schedule":null,"timezone":null,"grace":null';

function hasNoSchedule({ schedule, timezone, grace }: ListedSnitch['state']): boolean {
  return schedule === null && timezone === null && grace === null;
}

function schedule(state: ListedSnitch['state']): string {
  if (hasNoSchedule(state)) return NO_SCHEDULE;
  const { schedule, timezone, grace } = state;
  return `,"schedule":${schedule === null ? 'null' : JSON.stringify(schedule)}\
,"timezone":${text(timezone)},"grace":${grace}`;
}

type More = Pick<ListedSnitch, 'missingSince' | 'silenced' | 'needs' | 'hold'> & {
  state: Pick<
    ListedSnitch['state'],
    'maxRuntime' | 'minRuntime' | 'failuresBeforeAlert' | 'expect' | 'acknowledged'
  >;
};

/** From the deadline to the time of creation. */
function more({ state, missingSince, silenced, needs, hold }: More): string {
  return `,"missing_since":${time(missingSince)},"silenced":${silenced ? JSON.stringify(wireSilenced(silenced)) : 'null'}\
,"max_runtime":${state.maxRuntime},"min_runtime":${state.minRuntime}\
,"failures_before_alert":${state.failuresBeforeAlert}\
,"expect":${state.expect === null ? 'null' : JSON.stringify(state.expect)}\
,"acknowledged":${state.acknowledged === null ? 'null' : JSON.stringify(wireAcknowledged(state))}\
,"needs":${texts(needs)},"held":${hold === null ? 'null' : JSON.stringify(wireHold(hold))},"created_at":`;
}

function hasNothingMore({ state, missingSince, silenced, needs, hold }: More): boolean {
  return (
    missingSince === null &&
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

const NOTHING_MORE = inOnePiece(
  more({
    state: { maxRuntime: null, minRuntime: null, failuresBeforeAlert: 1, expect: null, acknowledged: null },
    missingSince: null,
    needs: [],
    hold: null,
  }),
);

/** Most often it is the check-in whose time was written just before. */
function report(last: LastReport | null, checkedInAt: number | null, written: string): string {
  if (last === null) return ',"last_report":null';
  const { at, outcome, exitStatus, message, reason } = last;
  const instant = at === checkedInAt ? written : time(at);
  if (exitStatus === null && message === null && reason === undefined)
    return `,"last_report":{"at":${instant}${NO_DETAILS[outcome]}`;
  const why = reason === undefined ? '' : `,"reason":${text(reason)}`;
  return `,"last_report":{"at":${instant},"outcome":"${outcome}","exit_status":${exitStatus},"message":${text(message)}${why}}`;
}

const NO_DETAILS = {
  healthy: ',"outcome":"healthy","exit_status":null,"message":null}',
  error: ',"outcome":"error","exit_status":null,"message":null}',
};

function time(at: number | null): string {
  return at === null ? 'null' : quotedIsoTime(at);
}

/** The deadline that was written last: all jobs of a night often share one. */
let lastDeadline = { at: 0, text: quotedIsoTime(0) };

function deadline(at: number | null): string {
  if (at === null) return 'null';
  if (at !== lastDeadline.at) lastDeadline = { at, text: quotedIsoTime(at) };
  return lastDeadline.text;
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

/**
 * A joined string stays a tree of its pieces until it is read. One that is written again and again would be walked
 * through each time.
 */
function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}

let base = { shown: '', text: '' };

/** From the last report to the token in the address for check-ins. */
function beginOfUrl(shown: string): string {
  if (base.shown !== shown || base.text === '')
    base = { shown, text: inOnePiece(`,"check_in_url":${JSON.stringify(shown).slice(0, -1)}/`) };
  return base.text;
}
