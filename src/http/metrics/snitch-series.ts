/**
 * The series of each snitch (`extensions: For the eyes of others`). All lines of a metric have to be together, so the
 * data of the snitches, which is little, is read first and kept; the text, which is long, is made while it is being
 * received.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Invalid } from '../../core/errors.ts';
import { isAwaited, type Status } from '../../core/snitch.ts';
import type { MeasuredSnitch, NamedSnitch } from '../../store/snitches.ts';
import type { Store } from '../../store/store.ts';
import { SECOND } from '../../text/durations.ts';
import { withSilences } from '../endpoint/silenced.ts';
import { type Family, gaugeHead, labelValue } from './series-text.ts';

/** More snitches than this are refused. */
export const MOST_SNITCHES = 10_000;

/** How many snitches are read, and how many are written, before others get their turn. */
const READ_AT_ONCE = 50;
const WRITTEN_AT_ONCE = 150;

const STATUSES: readonly Status[] = ['pending', 'healthy', 'failed', 'errored', 'paused'];

/** What is kept of a snitch until the text is made; times in milliseconds, null for what does not apply. */
interface Measured {
  /** As written between braces. */
  labels: string;
  status: Status;
  deadline: number | null;
  lastCheckInAt: number | null;
  lastSuccessAt: number | null;
  durationMs: number | null;
  isSilenced: boolean;
  isAcknowledged: boolean;
  isHeld: boolean;
}

interface SnitchFamily extends Family {
  /** The lines of one snitch. */
  lines: (snitch: Measured, now: number) => string;
}

/** One line with a value in seconds, or none if there is no value. */
function seconds(
  name: string,
  help: string,
  of: (snitch: Measured, now: number) => number | null,
): SnitchFamily {
  const lines = (snitch: Measured, now: number) => {
    const ms = of(snitch, now);
    return ms === null ? '' : `${name}{${snitch.labels}} ${ms / SECOND}\n`;
  };
  return { name, help, lines };
}

function flag(name: string, help: string, of: (snitch: Measured) => boolean): SnitchFamily {
  return { name, help, lines: (snitch) => `${name}{${snitch.labels}} ${of(snitch) ? 1 : 0}\n` };
}

const PER_SNITCH: readonly SnitchFamily[] = [
  {
    name: 'snitch_status',
    help: 'Whether the snitch has this status: 1 for the one that it has, 0 for each of the others.',
    lines: ({ labels, status }) =>
      STATUSES.map((one) => `snitch_status{${labels},status="${one}"} ${one === status ? 1 : 0}\n`).join(''),
  },
  seconds(
    'snitch_time_to_deadline_seconds',
    'Seconds to the deadline of the next check-in, of a failed snitch since the one that it missed, and then negative.',
    ({ deadline }, now) => deadline && deadline - now,
  ),
  seconds(
    'snitch_deadline_timestamp_seconds',
    'Deadline of the next check-in, of a failed snitch the one that it missed, in seconds since the Unix epoch.',
    ({ deadline }) => deadline,
  ),
  seconds(
    'snitch_last_check_in_timestamp_seconds',
    'Time of the last check-in that ended a run, well or not, in seconds since the Unix epoch.',
    ({ lastCheckInAt }) => lastCheckInAt,
  ),
  seconds(
    'snitch_last_success_timestamp_seconds',
    'Time of the last healthy check-in, in seconds since the Unix epoch.',
    ({ lastSuccessAt }) => lastSuccessAt,
  ),
  seconds(
    'snitch_last_duration_seconds',
    'Duration in seconds of the last run that has ended, where its start was reported.',
    ({ durationMs }) => durationMs,
  ),
  flag('snitch_silenced', 'Whether a silence holds over the snitch.', ({ isSilenced }) => isSilenced),
  flag(
    'snitch_acknowledged',
    'Whether somebody has acknowledged the present alarm of the snitch.',
    ({ isAcknowledged }) => isAcknowledged,
  ),
  flag(
    'snitch_held',
    'Whether the alert of the snitch is held, because something that it needs is down.',
    ({ isHeld }) => isHeld,
  ),
];

const REPORTED: Family = {
  name: 'snitch_reported_value',
  help: 'Number that the job reported last under the name in the label value.',
};

/** Every metric of a snitch. */
export const SNITCH_FAMILIES: readonly Family[] = [...PER_SNITCH, REPORTED];

export interface Wanted {
  caseId: string;
  /** Only snitches that have all of these tags. */
  tags: readonly string[];
  /** In milliseconds since the epoch. */
  now: number;
}

/**
 * @param gone ends it early, because nobody reads it any more
 * @throws Invalid before the first piece if there are too many snitches
 */
export async function* snitchSeries(
  store: Pick<Store, 'listMeasured' | 'listReported' | 'silencedAmong'>,
  wanted: Wanted,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const snitches = await readAll(store, wanted, gone);
  for (const family of PER_SNITCH) {
    let text = gaugeHead(family);
    for (let from = 0; from < snitches.length; from += WRITTEN_AT_ONCE) {
      for (const snitch of snitches.slice(from, from + WRITTEN_AT_ONCE))
        text += family.lines(snitch, wanted.now);
      yield text;
      text = '';
      // A client that reads fast makes room within the same turn.
      await nextTurn();
    }
    if (text !== '') yield text;
  }
  yield gaugeHead(REPORTED);
  yield* reportedValues(store, wanted);
}

async function readAll(
  store: Pick<Store, 'listMeasured' | 'silencedAmong'>,
  { caseId, tags, now }: Wanted,
  gone: AbortSignal,
): Promise<Measured[]> {
  const found: Measured[] = [];
  for (let after: number | null = 0; after !== null && !gone.aborted; ) {
    const slice = await store.listMeasured(caseId, { after, limit: READ_AT_ONCE, tags });
    const shown = await withSilences(store, caseId, slice.snitches, now);
    for (const snitch of shown) found.push(measured(snitch));
    if (found.length > MOST_SNITCHES) throw tooMany(tags);
    after = slice.next;
    await nextTurn();
  }
  return found;
}

function tooMany(tags: readonly string[]): Invalid {
  const limit = MOST_SNITCHES.toLocaleString('en-US');
  const message =
    tags.length === 0
      ? `must be given: the case has more than ${limit} snitches, so ask for those of a tag, as ?tags=web, one tag after the other`
      : `must leave at most ${limit} snitches, and more have these: name another tag as well, as ?tags=${tags[0]},web`;
  return new Invalid([{ attribute: 'tags', message }]);
}

function measured(snitch: MeasuredSnitch & { silenced?: object }): Measured {
  const { state, missingSince, checkedInAt, lastCheckInAt, durationMs, isAcknowledged, isHeld } = snitch;
  return {
    labels: labelsOf(snitch),
    status: state.status,
    deadline: isAwaited(state) ? state.dueAt : missingSince,
    lastCheckInAt,
    lastSuccessAt: checkedInAt,
    durationMs,
    isSilenced: snitch.silenced !== undefined,
    isAcknowledged,
    isHeld,
  };
}

/**
 * Names can be the same, so the number keeps the series of each snitch apart. The token, with which anybody can check
 * in, is not a label: many people can read monitoring data. The tags are sorted, so another order does not begin a new
 * series, and each is between two commas, so a pattern can match a single one.
 */
function labelsOf({ id, name, tags }: NamedSnitch): string {
  const all = tags.length === 0 ? '' : `,${tags.toSorted().join(',')},`;
  return `id="${id}",name="${labelValue(name)}",tags="${labelValue(all)}"`;
}

/** A job may report many values, so these are not kept, but read while the answer is being received. */
async function* reportedValues(
  store: Pick<Store, 'listReported'>,
  { caseId, tags }: Wanted,
): AsyncGenerator<string> {
  for (let after: number | null = 0; after !== null; ) {
    const slice = await store.listReported(caseId, { after, limit: READ_AT_ONCE, tags });
    let text = '';
    for (const snitch of slice.snitches) {
      const labels = labelsOf(snitch);
      for (const [name, last] of snitch.values) {
        text += `${REPORTED.name}{${labels},value="${labelValue(name)}"} ${last}\n`;
      }
    }
    if (text !== '') yield text;
    after = slice.next;
    await nextTurn();
  }
}
