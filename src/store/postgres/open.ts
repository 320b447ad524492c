/**
 * Opens the whole store of one node on PostgreSQL: connections to the primary, the schema, the node and its changes.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { BlindWindow } from '../../core/blind-window.ts';
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import { DAY } from '../../text/durations.ts';
import type { Change } from '../change.ts';
import { ClusterClock } from '../cluster-clock.ts';
import { migrations as all } from '../migrations/index.ts';
import type { Migration } from '../migrations/migration.ts';
import type { ClusterNode } from '../node.ts';
import type { Commit, Store } from '../store.ts';
import { ChangeHearer } from './changes/hearer.ts';
import type { Heard } from './changes/messages.ts';
import { ChangeTeller } from './changes/teller.ts';
import { freeOwnClaims } from './dead-nodes.ts';
import { SessionPool } from './hosts/pool.ts';
import { Primary } from './hosts/primary.ts';
import { seenMemory } from './hosts/seen-file.ts';
import { migrate } from './migrate.ts';
import { noteWaiting, OlderNodesLive } from './nodes/older.ts';
import { NODES } from './nodes/schema.ts';
import type { Node } from './nodes/signs.ts';
import { admission } from './nodes/versions.ts';
import { DEADLINE, type StoreOnPool, storeOn } from './postgres-store.ts';
import { checkSchemaAccess } from './schema-access.ts';
import { type OnWait, type SharedNode, sharedNode } from './shared-node.ts';

export interface OpenOptions {
  address: PostgresAddress;
  /** The directory in which this node remembers which primary it has written to; it must exist. */
  dataDir: string;
  /** The clock of this host, in milliseconds. */
  clock: () => number;
  /** Host time corrected by the database's clock once the store is open; a new one is made if absent. */
  clusterClock?: ClusterClock;
  /** The version of this program. */
  version: string;
  /** Identifies this run of the program; a new one is made if absent. */
  id?: string;
  /** All that this program knows. */
  migrations?: readonly Migration[];
  /** How long a connection and each statement may take, in milliseconds. */
  deadline?: number;
  onCommit?: (commit: Commit) => void;
  checkInsKept?: () => number;
  /** Called with a warning about a setting that works but is probably not what was meant. */
  warn: (words: string) => void;
  /** Called while this node waits for another program, for work that only one of them can do at a time. */
  onWait?: OnWait;
  /** Called after an upgrade of the schema. */
  onMigrated?: (migrated: { from: number; to: number }) => void;
  /** Called with a time in which no node accepted check-ins. */
  onBlind?: (window: BlindWindow) => void;
  /** Called with the number of nodes that were found dead and whose claims were released. */
  onFreed?: (nodes: number) => void;
}

/** The schema that holds everything Snitch stores. */
const SCHEMA = 'public';

/** Connections of the store: twelve for its calls, and those of the node itself. */
const SESSIONS = 14;

/** Rewriting a large table takes long, and so may waiting for another node that does it. In milliseconds. */
const MIGRATES_WITHIN = DAY;

/**
 * The node joins the others only when `node.begin` is called.
 *
 * @throws NewerSchema if the database belongs to a newer program
 * @throws OlderNodesLive if the schema cannot be upgraded yet; this node is then listed as waiting
 * @throws ConnectionFault, without the password in it, if no host accepts writes
 */
export async function openStoreOnPostgres(options: OpenOptions): Promise<Store> {
  const { address, dataDir, clock: hostClock, version, warn, deadline = DEADLINE } = options;
  const { clusterClock = new ClusterClock({ own: hostClock }) } = options;
  const { id = randomUUID(), migrations = all } = options;
  const node = { id, name: hostname(), version, schemaVersion: migrations.length };
  const admit = admission(migrations.length);
  const reached = { address, schema: SCHEMA, answerWithinMs: deadline, pipeline: true, admit };
  const primary = new Primary(reached, seenMemory(dataDir, warn), warn);
  await bringUpToDate(primary, node, { ...options, migrations });
  const pool = new SessionPool({ primary, size: SESSIONS, waitMs: deadline });
  const stopLooking = primary.keepLooking();
  const teller = new ChangeTeller({ pool, node: node.id, schema: SCHEMA });
  const { onCommit, checkInsKept } = options;
  const on = storeOn({
    pool,
    clock: clusterClock.now,
    deadline,
    node: node.id,
    leaseClock: 'database',
    mayTakeOver: () => shared.mayTakeOver(),
    onCommitted: (changes) => teller.tell(changes.filter(concernsOthers)),
    ...(onCommit && { onCommit }),
    ...(checkInsKept && { checkInsKept }),
  });
  const onHeard = (heard: Heard) => hear(on, heard);
  const hearer = new ChangeHearer({ primary, node: node.id, schema: SCHEMA, onHeard });
  const { onBlind = () => {}, onFreed = () => {}, onWait = () => {} } = options;
  const clocks = { hostClock, clusterClock };
  const shared = sharedNode({ ...on, ...clocks, node, primary, pool, warn, onBlind, onFreed, onWait });
  const end = async () => {
    await shared.node.leave();
    await hearer.stop();
    stopLooking();
  };
  await begin(hearer, shared).catch(async (error: unknown) => {
    await end();
    await pool.end();
    throw error;
  });
  const close = async () => {
    await end();
    await on.runner.drain();
    await leaveNothing(on, shared.node);
    // It needs the connections, which the store closes.
    await teller.stop();
    await on.store.close();
  };
  return { ...on.store, ...shared.methods, node: shared.node, close };
}

async function begin(hearer: ChangeHearer, { node }: SharedNode): Promise<void> {
  await hearer.start();
  // No time is recorded before this host's clock has been compared with the database's.
  await node.now();
}

async function bringUpToDate(
  primary: Primary,
  node: Node,
  { onMigrated, onWait = () => {}, migrations = all }: OpenOptions,
): Promise<void> {
  const wishes = { purpose: 'migrations', answerWithinMs: MIGRATES_WITHIN, pipeline: false };
  const session = await primary.connect(wishes);
  try {
    await checkSchemaAccess(session.client, SCHEMA);
    const migrated = await migrate(session.client, { onWait, also: NODES, migrations });
    if (migrated.from > 0 && migrated.from < migrated.to) onMigrated?.(migrated);
  } catch (error) {
    if (error instanceof OlderNodesLive) {
      await session.client.query(NODES);
      await noteWaiting(session.client, node);
    }
    throw error;
  } finally {
    await session.end();
  }
}

/** The node that decided an alert is the one that logs it. */
function concernsOthers({ kind }: Change): boolean {
  return kind !== 'alert';
}

function hear({ announce }: StoreOnPool, heard: Heard): void {
  if (heard === 'reset') announce([{ kind: 'reset' }]);
  else announce(heard.changes.filter(concernsOthers));
}

/** If the database is away, the other nodes find out themselves that this node is gone. */
async function leaveNothing({ runner }: StoreOnPool, node: ClusterNode): Promise<void> {
  const { id, problem } = node;
  if (problem() !== null) return;
  // Only this node knows what it has refused.
  await node.answerForRefused().catch(() => undefined);
  await runner.writeInBackground((tx) => freeOwnClaims(tx, id)).catch(() => undefined);
}
