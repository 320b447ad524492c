/** What status pages show: snitches, a slice at a time, and what is stored of their past. */
import type { BlindWindow } from '../../../core/blind-window.ts';
import type { Interval } from '../../../core/interval.ts';
import { ruleIn } from '../../../core/job-schedule.ts';
import type { Silence } from '../../../core/silences/silence.ts';
import type { Status } from '../../../core/snitch.ts';
import type { StatusPage } from '../../../core/status-page/page.ts';
import type { KeptAlert, KeptChange } from '../../../core/status-page/spans.ts';
import type { ChangeOfSnitch, KeptPast, Looked, ShownSnitch } from '../../status-pages.ts';
import type { Reading } from '../../transaction.ts';
import { textsIn } from '../packed/texts.ts';
import { findRules } from '../silences/case-rules.ts';
import { silencesSince } from '../silences/rows.ts';
import { CHANGES_KEPT } from './changes.ts';

interface ShownRow {
  id: number;
  token: string;
  name: string;
  public_name: string | null;
  tags: string;
  created_at: number;
  status: Status;
  interval: Interval;
  schedule: string | null;
  timezone: string | null;
}

const COLUMNS = `n.id, n.token, n.name, n.public_name, n.tags, n.created_at, s.status, s.interval, s.schedule,
  s.timezone`;

export async function listShown(
  tx: Reading,
  caseId: string,
  { tag, after, limit }: { tag: string | null; after: number; limit: number },
): Promise<{ snitches: ShownSnitch[]; next: number | null }> {
  const rows = await (tag === null
    ? tx.all<ShownRow>(
        `SELECT ${COLUMNS} FROM snitches AS n CROSS JOIN snitch_states AS s ON s.id = n.id
         WHERE n.case_id = +? AND n.id > +? ORDER BY n.id LIMIT +?`,
        caseId,
        after,
        limit,
      )
    : tx.all<ShownRow>(
        `SELECT ${COLUMNS} FROM snitch_tags AS t CROSS JOIN snitches AS n ON n.id = t.snitch_id
           CROSS JOIN snitch_states AS s ON s.id = n.id
         WHERE t.case_id = +? AND t.tag = +? AND t.snitch_id > +? ORDER BY t.snitch_id LIMIT +?`,
        caseId,
        tag,
        after,
        limit,
      ));
  const last = rows.at(-1);
  return { snitches: rows.map(toShown), next: last && rows.length === limit ? last.id : null };
}

function toShown(row: ShownRow): ShownSnitch {
  return {
    id: row.id,
    token: row.token,
    name: row.name,
    publicName: row.public_name,
    tags: textsIn(row.tags),
    status: row.status,
    createdAt: row.created_at,
    interval: row.interval,
    schedule: row.schedule === null ? null : ruleIn(row.schedule),
    timezone: row.timezone,
  };
}

/** How many alerts are read for the time before changes were recorded. */
const ALERTS_READ = 200;

export async function listPasts(
  tx: Reading,
  page: Pick<StatusPage, 'id' | 'since'>,
  shown: readonly Looked[],
): Promise<Map<number, KeptPast>> {
  const pasts = new Map<number, KeptPast>();
  for (const { id, token } of shown) {
    const changes = await changesOf(tx, page.id, id);
    const areCut = changes.length >= CHANGES_KEPT;
    const alerts = areCut ? [] : await alertsBefore(tx, token, page.since);
    pasts.set(id, { changes, alerts, isCut: areCut || alerts.length === ALERTS_READ });
  }
  return pasts;
}

async function changesOf(tx: Reading, pageId: number, snitchId: number): Promise<KeptChange[]> {
  return tx.all<KeptChange>(
    'SELECT at, was, status FROM status_changes WHERE page_id = +? AND snitch_id = +? ORDER BY at',
    pageId,
    snitchId,
  );
}

async function alertsBefore(tx: Reading, token: string, since: number): Promise<KeptAlert[]> {
  const rows = await tx.all<{ at: number; snitch: string }>(
    `SELECT at, snitch FROM alerts WHERE token = +? AND at < +? AND snitch IS NOT NULL
     ORDER BY at DESC, id DESC LIMIT +?`,
    token,
    since,
    ALERTS_READ,
  );
  return rows.reverse().map(({ at, snitch }) => {
    const { status, previous_status: previousStatus } = JSON.parse(snitch) as {
      status: KeptAlert['status'];
      previous_status: KeptAlert['status'];
    };
    return { at, status, previousStatus };
  });
}

type ChangeRow = KeptChange & Pick<ShownRow, 'id' | 'token' | 'name' | 'public_name' | 'tags'>;

export async function listStatusChanges(
  tx: Reading,
  pageId: number,
  limit: number,
): Promise<ChangeOfSnitch[]> {
  const rows = await tx.all<ChangeRow>(
    `SELECT c.at, c.was, c.status, n.id, n.token, n.name, n.public_name, n.tags
     FROM status_changes AS c CROSS JOIN snitches AS n ON n.id = c.snitch_id
     WHERE c.page_id = +? ORDER BY c.at DESC, c.snitch_id LIMIT +?`,
    pageId,
    limit,
  );
  return rows.map(({ at, was, status, id, token, name, public_name: publicName, tags }) => ({
    at,
    was,
    status,
    snitch: { id, token, name, publicName, tags: textsIn(tags) },
  }));
}

/** How many blind windows are read, newest first. */
const WINDOWS_READ = 1_000;

export async function quietTimes(
  tx: Reading,
  caseId: string,
  since: number,
  now: number,
): Promise<{ silences: readonly Silence[]; away: BlindWindow[] }> {
  const away = await tx.all<BlindWindow>(
    `SELECT started_at AS start, ended_at AS "end" FROM blind_windows WHERE ended_at > +?
     ORDER BY id DESC LIMIT +?`,
    since,
    WINDOWS_READ,
  );
  const rules = await findRules(tx, caseId);
  return { silences: rules?.hasSilences ? await silencesSince(tx, caseId, since, now) : [], away };
}
