/**
 * What somebody did, in words: `paused nightly-backup until 06:00`. The entry may come from a newer server, or from
 * something else altogether.
 */
import { compactDuration, SECOND } from '../../text/durations.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';
import { scheduleInWords } from '../schedule-name.ts';

/** An entry as the API shows it. */
export interface ShownEntry {
  action: string;
  subject: { name: string };
  details: ShownDetails;
}

interface ShownDetails {
  changes?: Readonly<Record<string, ShownChange>>;
  until?: string;
  count?: number;
  names?: readonly string[];
  owner?: string | null;
  scope?: string;
  channel?: string;
  note?: string;
}

interface ShownChange {
  from?: unknown;
  to?: unknown;
  added?: readonly string[];
  removed?: readonly string[];
  more?: number;
}

/** What is said before the name, by action. */
const VERBS: Record<string, string> = {
  'snitch.created': 'made',
  'snitch.changed': 'changed',
  'snitch.deleted': 'deleted',
  'snitch.paused': 'paused',
  'snitch.unpaused': 'unpaused',
  'snitch.acknowledged': 'acknowledged',
  'snitch.unacknowledged': 'took back the acknowledgement of',
  'snitches.imported': 'imported',
  'silence.created': 'silenced',
  'silence.changed': 'changed the silence of',
  'silence.deleted': 'ended the silence of',
  'badge.created': 'made a badge of',
  'badge.deleted': 'deleted a badge of',
  'case.created': 'made the case',
  'case.changed': 'changed the case',
  'case.deleted': 'deleted the case',
  'key.created': 'made the key',
  'key.deleted': 'deleted the key',
  'webhook.created': 'made the webhook to',
  'webhook.deleted': 'deleted the webhook to',
  'webhook.secret_changed': 'changed the secret of the webhook to',
  'webhook.tested': 'tested the webhook to',
  'channel.created': 'made the channel',
  'channel.changed': 'changed the channel',
  'channel.deleted': 'deleted the channel',
  'channel.tested': 'tested',
  'status_page.created': 'switched on the status page',
  'status_page.changed': 'changed the status page',
  'status_page.deleted': 'took away the status page',
  'delivery.retried': 'sent again the alert about',
};

/**
 * @param local shows an ISO 8601 instant in the reader's time
 * @param name what the thing is called here; by default, its name in the entry
 */
export function didInWords(
  { action, subject, details }: ShownEntry,
  local: (iso: string) => string,
  name = subject.name,
): string {
  if (action === 'maintenance.began') return 'began the maintenance';
  if (action === 'maintenance.ended') return 'ended the maintenance';
  if (action === 'snitches.owned') return ownedInWords(details, name);
  const verb = Object.hasOwn(VERBS, action) ? VERBS[action] : `${action}:`;
  const more = moreInWords(action, details, local);
  return `${verb} ${name}${more}`;
}

function ownedInWords({ owner, names }: ShownDetails, name: string): string {
  const which = `${name}${namesInWords(names, ': ')}`;
  return owner == null ? `let no file keep ${which}` : `let the file ${owner} keep ${which}`;
}

function moreInWords(action: string, details: ShownDetails, local: (iso: string) => string): string {
  const { changes, until, names, owner, scope, channel, note } = details;
  const by = action === 'delivery.retried' && channel !== undefined ? ` by ${channel}` : '';
  const kind = action.startsWith('channel.') && channel !== undefined ? ` (${channel})` : '';
  return [
    by,
    kind,
    scope === undefined ? '' : ` (${scope})`,
    until === undefined ? '' : ` ${untilInWords(until, local)}`,
    owner == null ? '' : ` from the file ${owner}`,
    namesInWords(names, ': '),
    changes ? `: ${changesInWords(changes)}` : '',
    note === undefined ? '' : `: ${note}`,
  ].join('');
}

/** What ends a pause. @param until `healthy`, `unpaused`, or a time in ISO 8601 */
export function untilInWords(until: string, local: (iso: string) => string): string {
  if (until === 'healthy') return 'until its next healthy check-in';
  return until === 'unpaused' ? 'until somebody unpauses it' : `until ${local(until)}`;
}

const MOST_NAMES = 3;

function namesInWords(names: readonly string[] | undefined, before: string): string {
  if (!names || names.length === 0) return '';
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return `${before}${shown}${names.length > MOST_NAMES ? ' and others' : ''}`;
}

function changesInWords(changes: Readonly<Record<string, ShownChange>>): string {
  return Object.entries(changes)
    .map(([field, change]) => changeInWords(field, change))
    .join('; ');
}

function changeInWords(field: string, { from, to, added = [], removed = [], more }: ShownChange): string {
  const items = [...added.map((item) => `+${item}`), ...removed.map((item) => `-${item}`)];
  if (items.length > 0) return `${field} ${items.join(' ')}${more === undefined ? '' : ` and ${more} more`}`;
  if (from === undefined && to === undefined) return field;
  return `${field} from ${valueInWords(field, from)} to ${valueInWords(field, to)}`;
}

const IN_SECONDS = new Set(['grace', 'max_runtime', 'min_runtime', 'after']);

function valueInWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'number' && IN_SECONDS.has(field)) return compactDuration(value * SECOND);
  if (field === 'schedule' && isSchedule(value)) return scheduleInWords(value, '').replace(/ \(\)$/, '');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isSchedule(value: unknown): value is ScheduleRule {
  if (typeof value !== 'object' || value === null) return false;
  const { cron, calendar, every } = value as Record<string, unknown>;
  return typeof cron === 'string' || typeof calendar === 'string' || typeof every === 'number';
}
