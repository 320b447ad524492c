/** What `snitch doctor` reports about a PostgreSQL database and the nodes on it. */
import type { StorePlace } from '../../config/store-place.ts';
import type { ListedNode } from '../../store/node.ts';
import type { Holder, Inspected, Prepared } from '../../store/postgres/inspect.ts';
import { DAY, durationInWords, MINUTE, SECOND } from '../../text/durations.ts';
import { describeFailure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

/** Nodes follow the clock of the database as exactly as they can measure it; more than this is wrong. Milliseconds. */
const MOST_AHEAD = 1_000;

/** A node without a sign of life for this long counts as dead, in milliseconds. */
const SILENT_AFTER = 7_000;

/** A node that was silent for longer is taken as retired, and no longer reported. In milliseconds. */
const MISSED_FOR = DAY;

const MEGABYTE = 1_000_000;

/** What PostgreSQL says if all connections are taken. */
const NO_ROOM = /connection slots|too many (clients|connections)/;

export async function checkPostgres({ address, shown }: StorePlace, dataDir: string): Promise<Finding[]> {
  const [{ inspectPostgres }, { withServicePassword }] = await Promise.all([
    import('../../store/postgres/inspect.ts'),
    import('../../config/store-place.ts'),
  ]);
  try {
    return findingsOf(await inspectPostgres(withServicePassword(address), dataDir), shown);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    return [failure('store', `${shown}: ${message}`, remedyFor(error, message))];
  }
}

function remedyFor(error: unknown, message: string): string {
  if (NO_ROOM.test(message))
    return 'running nodes keep their connections, but a node that starts now gets none: raise max_connections, or close other clients';
  // The message says what to change.
  if (error instanceof Error && 'isLasting' in error && error.isLasting === true)
    return 'until that is fixed, no daemon can start on it, and a running one may be refused as well';
  return 'while no daemon reaches the database, every check-in is refused: check that it runs, and that store.url is right';
}

/** Does not access the database. */
export function findingsOf(inspected: Inspected, shown: string): Finding[] {
  const { version, content } = inspected;
  const place = `PostgreSQL ${version}, ${shown}`;
  if (content === null)
    return [warning('store', `${place}: it is still empty`, '`snitch serve` creates the tables')];
  const counts =
    content === 'held'
      ? 'its snitches cannot be counted right now'
      : `${countOf(content.snitches, 'snitch', 'snitches')} in ${countOf(content.cases, 'case', 'cases')}`;
  const size = `${Math.ceil(inspected.size / MEGABYTE)} MB`;
  return [
    ok('store', `${place}; ${counts}; ${size}`),
    ...checkNodes(inspected),
    ...inspected.holders.map(heldUp),
    ...inspected.prepared.map(leftPrepared),
    checkReplication(inspected),
  ];
}

/** A `psql` left inside a transaction blocks check-ins, and with them all alarms. */
function heldUp({ process, user, program, from, heldMs }: Holder): Finding {
  const who = user === null ? '' : ` of the user ${user}`;
  const where = from === null ? '' : ` from ${from}`;
  return failure(
    'locks',
    `${program === '' ? 'a session' : program}${who}${where}, in a transaction for ${durationInWords(heldMs)}, holds locks that the nodes wait for: check-ins that need it are refused, and alarms wait`,
    `end its transaction there, or as the administrator of the database: SELECT pg_terminate_backend(${process})`,
  );
}

/** No session owns it, and it survives a restart of the server. */
function leftPrepared({ name, user, heldMs }: Prepared): Finding {
  return failure(
    'locks',
    `the transaction ${name}, which the user ${user} prepared ${durationInWords(heldMs)} ago and did not end, holds locks that the nodes wait for: check-ins that need it are refused, and alarms wait`,
    `ask whoever prepared it whether to commit it; if not, as that user or the administrator of the database, in this database: ROLLBACK PREPARED '${name.replaceAll("'", "''")}'`,
  );
}

function checkNodes({ nodes, now }: Inspected): Finding[] {
  const living = nodes.filter(
    ({ stoppedAt, aliveAt, waits }) => !waits && stoppedAt === null && now - aliveAt < SILENT_AFTER,
  );
  const waiting = nodes.filter(({ waits }) => waits).map(waitingNode);
  if (living.length === 0)
    return [
      failure('nodes', 'no daemon gives signs of life on this database', 'start `snitch serve`'),
      ...waiting,
    ];
  const named = living.map(({ name, version }) => `${name} (${version})`).join(', ');
  const versions = new Set(living.map(({ version }) => version));
  const found = `${countOf(living.length, 'node', 'nodes')}: ${named}`;
  const shown =
    versions.size === 1
      ? ok('nodes', found)
      : warning('nodes', `${found}: they run different versions`, 'upgrade all of them soon');
  return [
    shown,
    ...checkNames(living, now),
    ...checkMissing({ nodes, now }, living),
    ...checkClocks(living),
    ...waiting,
  ];
}

/** A node with a sign of life within this time has not just been replaced by another run on its host; milliseconds. */
const SURELY_LIVES = 2_500;

/** Nodes are told apart by the names of their hosts, above all when one is missing. */
function checkNames(living: ListedNode[], now: number): Finding[] {
  const sure = living.filter(({ aliveAt }) => now - aliveAt < SURELY_LIVES).map(({ name }) => name);
  const twice = new Set(sure.filter((name, index) => sure.indexOf(name) !== index));
  return [...twice].map((name) =>
    warning(
      'names',
      `more than one node is called ${name}: as long as one of them runs, nobody is told that another is missing`,
      'give each host its own name: hostnamectl set-hostname NAME, and restart its node',
    ),
  );
}

function waitingNode({ name, version, schemaVersion }: ListedNode): Finding {
  const message = `${name} (${version}) waits: its upgrade of the schema to version ${schemaVersion} would break the running nodes of an older version`;
  return warning(
    'upgrade',
    message,
    'stop the nodes of the older version, and start them with the newer one',
  );
}

/** Nodes that ended without a word, unless another runs on the same host now. One that waits has a finding of its own. */
function checkMissing({ nodes, now }: Pick<Inspected, 'nodes' | 'now'>, living: ListedNode[]): Finding[] {
  const names = new Set(living.map(({ name }) => name));
  const last = new Map<string, number>();
  for (const { name, aliveAt, stoppedAt } of nodes.filter(({ waits }) => !waits))
    last.set(name, Math.max(last.get(name) ?? 0, stoppedAt === null ? aliveAt : Number.POSITIVE_INFINITY));
  return [...last]
    .filter(([name, aliveAt]) => !names.has(name) && now - aliveAt > 0 && now - aliveAt < MISSED_FOR)
    .map(([name, aliveAt]) => {
      const ago = Math.round((now - aliveAt) / 1_000);
      const message = `${name} gave its last sign of life ${ago < 120 ? `${ago} s` : `${Math.round(ago / 60)} min`} ago, and was not shut down properly`;
      return warning('nodes', message, `on that host: systemctl status snitch; journalctl -u snitch -p err`);
    });
}

/** If all nodes differ from the database alike, its clock is the wrong one, and so are all times. */
function checkClocks(living: ListedNode[]): Finding[] {
  const off = living.filter(({ clockAheadMs }) => Math.abs(clockAheadMs) > MOST_AHEAD);
  const aheads = off.map(({ clockAheadMs }) => clockAheadMs);
  const areAlike = Math.max(...aheads) - Math.min(...aheads) <= MOST_AHEAD;
  if (off.length < 2 || off.length < living.length || !areAlike) return off.map(offClock);
  // From the nodes' view, it is the database that is off.
  const message = `the clock of the database is ${apart(-(aheads[0] ?? 0))} those of all nodes, and check-ins and deadlines depend on it: it is probably wrong`;
  return [
    failure('clocks', message, 'let chrony or systemd-timesyncd set the clock of the host of the database'),
  ];
}

function offClock({ name, clockAheadMs }: ListedNode): Finding {
  const message = `the clock of ${name} is ${apart(clockAheadMs)} that of the database, whose time it uses: only the times in its log are wrong`;
  return warning('clocks', message, 'let chrony or systemd-timesyncd set the clocks of all hosts');
}

function apart(aheadMs: number): string {
  const length = Math.abs(aheadMs);
  const shown = length < MINUTE ? `${(length / SECOND).toFixed(1)} s` : durationInWords(length);
  return `${shown} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}

function checkReplication(inspected: Inspected): Finding {
  const { standbys, isSynchronous, seesStandbys, waitsFor } = inspected;
  if (waitsFor === 'local') return ofLocalCommits();
  if (!seesStandbys) return ofUnseen(isSynchronous);
  const named = standbys.map(({ name, state }) => `${name} (${state})`).join(', ');
  const isFollowed = standbys.some(({ state }) => state === 'sync' || state === 'quorum');
  const early = waitsFor === 'remote_write' ? ', which answers before it is on its disk (remote_write)' : '';
  if (isSynchronous && isFollowed) return ok('replication', `synchronous: ${named}${early}`);
  if (isSynchronous)
    return failure(
      'replication',
      'commits wait for a standby, and no synchronous standby is connected: check-ins are refused until one is',
      'start the standby that synchronous_standby_names names; to go on without one, on the primary: ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()',
    );
  if (standbys.length === 0)
    return warning(
      'replication',
      'no standby is connected: the only copy of the data is on the disk of the primary',
      'make backups with pg_dump, and add a synchronous standby to survive the loss of the host',
    );
  return warning(
    'replication',
    `asynchronous: ${named}: check-ins that were acknowledged can be lost in a failover`,
    'set synchronous_standby_names',
  );
}

function ofLocalCommits(): Finding {
  return warning(
    'replication',
    'synchronous_commit is local for this user, so no commit waits for a standby: check-ins that were acknowledged can be lost in a failover',
    'set it to on, or reset it for the user and the database (ALTER ROLE … RESET synchronous_commit)',
  );
}

/** Without the right to see them, following standbys look like none. */
function ofUnseen(isSynchronous: boolean): Finding {
  const message = isSynchronous
    ? 'commits wait for a standby, but this user has no right to see whether one is connected'
    : 'no commit waits for a standby, and this user has no right to see whether one is connected: check-ins that were acknowledged can be lost in a failover';
  return warning(
    'replication',
    message,
    'as the administrator of the database: GRANT pg_read_all_stats TO this user',
  );
}
