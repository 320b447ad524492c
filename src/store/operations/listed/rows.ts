/**
 * The rows of a list of snitches. Each value that a row returns costs. So only values that differ between snitches have
 * columns; everything that many snitches share is one text, which is parsed once for all that have the same.
 */
import type { LastReport } from '../../../core/check-in.ts';
import type { Held } from '../../../core/needs/needs.ts';
import type { ListedSnitch } from '../../../core/snitch.ts';
import type { Reading } from '../../transaction.ts';
import { lastReportOf, type ReportRow, reportIn } from '../last-report.ts';
import { LAST_MISSING, ofThisSilence } from '../missing-since.ts';
import { heldIn } from '../needs/held-text.ts';
import { NEEDS_OF_N } from '../needs/written.ts';
import { textsIn } from '../packed/texts.ts';
import { rulesIn } from '../run-rules.ts';
import { type SnitchRow, tagsIn } from '../snitch-rows.ts';
import { acknowledgedIn, reasonIn, ruleOf, type StateRow } from '../states.ts';

export interface ListedRow
  extends Pick<SnitchRow, 'id' | 'token' | 'name' | 'notes' | 'created_at'>,
    Pick<StateRow, 'checked_in_at' | 'last_check_in_at' | 'due_at'> {
  /** From the newest row of the log, which nearly always is the last report. */
  log_exit_status: number | null;
  log_message: string | null;
  log_report: ReportRow['report'];
  /** A JSON array of what `USUAL` names and, if there is any of it, of what `RARE` names. */
  alike: string;
}

/** Everything else in a row, by its names in `USUAL` and `RARE`. */
interface Others
  extends Pick<SnitchRow, 'public_name' | 'tags' | 'alert_email'>,
    Pick<StateRow, 'status' | 'interval' | 'alert_type' | 'schedule' | 'timezone' | 'grace' | 'reason'>,
    Pick<StateRow, 'max_runtime' | 'run_rules' | 'acknowledged'> {
  held: StateRow['needs'];
  /** JSON; null for a snitch that needs no other. */
  needs: string | null;
  missing_since: number | null;
  log_outcome: string | null;
  /** The newest row of the log if it is not the last report, which then must be searched for; otherwise null. */
  looked_for: number | null;
}

/** A snitch that never checked in has no report to search for. */
const NEWEST_IS_REPORT = `coalesce(c.at = s.last_check_in_at AND c.outcome IN ('healthy', 'error'),
  s.last_check_in_at IS NULL)`;

/** What every snitch has. */
const USUAL = {
  tags: 'n.tags',
  alert_email: 'n.alert_email',
  status: 's.status',
  interval: 's.interval',
  alert_type: 's.alert_type',
  log_outcome: 'c.outcome',
};

/** Columns that are null for most. */
const RARE_COLUMNS = {
  public_name: 'n.public_name',
  schedule: 's.schedule',
  timezone: 's.timezone',
  grace: 's.grace',
  reason: 's.reason',
  max_runtime: 's.max_runtime',
  run_rules: 's.run_rules',
  acknowledged: 's.acknowledged',
  held: 's.needs',
};

/** What most have none of. The needs become plain text, because SQLite may embed known JSON as JSON. */
const RARE = {
  ...RARE_COLUMNS,
  needs: `CASE WHEN s.needs IS NOT NULL THEN '' || (${NEEDS_OF_N}) END`,
  missing_since: `CASE WHEN s.status = 'failed' THEN (${LAST_MISSING}) END`,
  looked_for: `CASE WHEN NOT ${NEWEST_IS_REPORT} THEN s.last_check_in_id END`,
};

const HAS_NOTHING_RARE = [
  ...Object.values(RARE_COLUMNS).map((column) => `${column} IS NULL`),
  `s.status <> 'failed'`,
  NEWEST_IS_REPORT,
].join(' AND ');

/** For the snitch `n`, its state `s` and the newest row of its log `c`. */
export const COLUMNS = `n.id, n.token, n.name, n.notes, n.created_at, s.checked_in_at, s.last_check_in_at,
  s.due_at, c.exit_status AS log_exit_status, c.message AS log_message, c.report AS log_report,
  CASE WHEN ${HAS_NOTHING_RARE} THEN json_array(${Object.values(USUAL).join(', ')})
    ELSE json_array(${Object.values({ ...USUAL, ...RARE }).join(', ')}) END AS alike`;

const NAMES = Object.keys({ ...USUAL, ...RARE }) as (keyof Others)[];

const NOTHING = Object.fromEntries(NAMES.map((name) => [name, null]));

function othersIn(text: string): Others {
  const others = { ...NOTHING };
  for (const [index, value] of (JSON.parse(text) as null[]).entries()) others[NAMES[index] ?? ''] = value;
  return others as unknown as Others;
}

/** What many snitches have in common. It is shared between them and must not be changed. */
export interface Alike {
  said: Pick<ListedSnitch, 'publicName' | 'tags' | 'alertEmail' | 'needs'>;
  state: Omit<ListedSnitch['state'], 'checkedInAt' | 'dueAt'>;
  held: Held | null;
  missingSince: number | null;
  logOutcome: string | null;
  lookedFor: number | null;
}

/** What was parsed, except from texts so long that few snitches can share them. */
const READ = new Map<string, Alike>();
const REMEMBERED = 1_000;
const LONGEST = 1_000;

/** Neighbours in a list often have the same. */
let last: { text: string; alike: Alike } | null = null;

export function alikeIn({ alike: text }: Pick<ListedRow, 'alike'>): Alike {
  if (last?.text !== text) last = { text, alike: READ.get(text) ?? read(text) };
  return last.alike;
}

function read(text: string): Alike {
  const alike = toAlike(othersIn(text));
  if (READ.size >= REMEMBERED) READ.clear();
  if (text.length <= LONGEST) READ.set(text, alike);
  return alike;
}

function toAlike(others: Others): Alike {
  return {
    said: {
      publicName: others.public_name,
      tags: Object.freeze(tagsIn(others)) as string[],
      alertEmail: Object.freeze(textsIn(others.alert_email)) as string[],
      needs: Object.freeze(others.needs === null ? [] : textsIn(others.needs)) as string[],
    },
    state: {
      status: others.status,
      interval: others.interval,
      alertType: others.alert_type,
      schedule: ruleOf(others),
      timezone: others.timezone,
      grace: others.grace,
      reason: reasonIn(others.reason),
      maxRuntime: others.max_runtime,
      acknowledged: acknowledgedIn(others.acknowledged),
      ...rulesIn(others.run_rules),
    },
    held: heldIn(others.held),
    missingSince: others.missing_since,
    logOutcome: others.log_outcome,
    lookedFor: others.looked_for,
  };
}

/** The last report if the newest row of the log is that report; otherwise null. */
export function reportOf(row: ListedRow, { logOutcome: outcome, lookedFor }: Alike): LastReport | null {
  const {
    last_check_in_at: at,
    log_exit_status: exit_status,
    log_message: message,
    log_report: report,
  } = row;
  if (at === null || outcome === null || lookedFor !== null) return null;
  return reportIn({ at, outcome, exit_status, message, report }, row);
}

/** The last report if the newest row of the log is something else. */
export function olderReportOf(tx: Reading, row: ListedRow, { lookedFor }: Alike): Promise<LastReport | null> {
  return lastReportOf(tx, { ...row, last_check_in_id: lookedFor });
}

export function toListed(row: ListedRow, alike: Alike, lastReport: LastReport | null): ListedSnitch {
  return {
    ...alike.said,
    token: row.token,
    name: row.name,
    notes: row.notes,
    createdAt: row.created_at,
    state: { ...alike.state, checkedInAt: row.checked_in_at, dueAt: row.due_at },
    lastReport,
    missingSince: ofThisSilence(alike.missingSince, row),
    hold: null,
  };
}
