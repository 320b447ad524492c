/** What `snitch doctor` says of a PostgreSQL database and of the nodes on it. */
import type { StorePlace } from '../../config/store-place.ts';
import type { ListedNode } from '../../store/node.ts';
import type { Inspected } from '../../store/postgres/inspect.ts';
import { describeFailure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

/** The nodes stamp times themselves, so that their clocks must agree; milliseconds. */
const MOST_AHEAD = 1_000;

/** A node that gave no sign of life for so long does not live, in milliseconds. */
const SILENT_AFTER = 7_000;

export async function checkPostgres({ address, shown }: StorePlace): Promise<Finding[]> {
  const [{ inspectPostgres }, { withServicePassword }] = await Promise.all([
    import('../../store/postgres/inspect.ts'),
    import('../../config/store-place.ts'),
  ]);
  try {
    return findingsOf(await inspectPostgres(withServicePassword(address)), shown);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    const remedy =
      'while no daemon reaches the database, every check-in is refused: see that it runs, and what store.url says';
    return [failure('store', `${shown}: ${message}`, remedy)];
  }
}

/** Without a look at the database. */
export function findingsOf(inspected: Inspected, shown: string): Finding[] {
  const { version, content } = inspected;
  const place = `PostgreSQL ${version}, ${shown}`;
  if (content === null)
    return [warning('store', `${place}: nothing is in it yet`, '`snitch serve` makes the tables')];
  const counts = `${countOf(content.snitches, 'snitch', 'snitches')} in ${countOf(content.cases, 'case', 'cases')}`;
  return [ok('store', `${place}; ${counts}`), ...checkNodes(inspected), checkReplication(inspected)];
}

function checkNodes({ nodes, now }: Inspected): Finding[] {
  const living = nodes.filter(({ stoppedAt, aliveAt }) => stoppedAt === null && now - aliveAt < SILENT_AFTER);
  if (living.length === 0)
    return [failure('nodes', 'no daemon gives signs of life on this database', 'start `snitch serve`')];
  const named = living.map(({ name, version }) => `${name} (${version})`).join(', ');
  const versions = new Set(living.map(({ version }) => version));
  const found = `${countOf(living.length, 'node', 'nodes')}: ${named}`;
  const shown =
    versions.size === 1
      ? ok('nodes', found)
      : warning('nodes', `${found}: they are of different versions`, 'upgrade all of them soon');
  return [shown, ...living.filter(({ clockAheadMs }) => Math.abs(clockAheadMs) > MOST_AHEAD).map(offClock)];
}

function offClock({ name, clockAheadMs }: ListedNode): Finding {
  const difference = `${(Math.abs(clockAheadMs) / 1_000).toFixed(1)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'}`;
  const message = `the clock of ${name} is ${difference} that of the database, so that check-ins get wrong times`;
  return warning('clocks', message, 'let chrony or systemd-timesyncd set the clocks of all hosts');
}

function checkReplication({ standbys, isSynchronous }: Inspected): Finding {
  const named = standbys.map(({ name, state }) => `${name} (${state})`).join(', ');
  if (isSynchronous && standbys.some(({ state }) => state === 'sync' || state === 'quorum'))
    return ok('replication', `synchronous: ${named}`);
  if (isSynchronous)
    return failure(
      'replication',
      'a commit waits for a standby, and no synchronous standby follows: check-ins are refused until one does',
      'start the standby that synchronous_standby_names says',
    );
  if (standbys.length === 0)
    return warning(
      'replication',
      'no standby follows that this user may see: what is on the disk of the primary is all there is',
      'make backups with pg_dump, and a synchronous standby where the host may be lost',
    );
  return warning(
    'replication',
    `asynchronous: ${named}: check-ins that were acknowledged can be lost in a failover`,
    'set synchronous_standby_names',
  );
}
