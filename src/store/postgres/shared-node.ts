/** This node among those on the same database: what the store reports about it, and what it learns of the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { BlindWindow } from '../../core/blind-window.ts';
import type { ClusterClock } from '../cluster-clock.ts';
import type { ClusterNode, ListedNode } from '../node.ts';
import type { Store } from '../store.ts';
import { alone } from './alone.ts';
import { freeClaimsOfDead } from './dead-nodes.ts';
import { unavailable } from './faults.ts';
import type { SessionPool } from './hosts/pool.ts';
import type { Primary } from './hosts/primary.ts';
import { clockWarning } from './nodes/clock-warning.ts';
import { Liveness } from './nodes/liveness.ts';
import { CLOCK, DEAD_AFTER, listNodes, type Node, type OpenWindow, sayHeld } from './nodes/signs.ts';
import { reasonFor } from './passing.ts';
import type { PostgresRunner } from './postgres-runner.ts';
import { LOCKS } from './postgres-transaction.ts';
import { Refusals } from './refusals.ts';
import { SharedSweep } from './shared-sweep.ts';

/**
 * How long all nodes may be silent without a blind window, in milliseconds: less than the store keeps trying before it
 * refuses a check-in because the database is away, so that each such refusal lies in a window.
 */
export const SIGN_PROVES_FOR = 7_000;

/** If no node lives when this one begins, a gap this long is already a blind window; in milliseconds. */
const FIRST_GAP = 1_500;

const AWAY = 'the database does not answer, or takes no writes';

/** @param what the work that only one node at a time can do */
export type OnWait = (what: string, holder: string | null) => void;

export interface SharedNodeOptions {
  readonly node: Node;
  readonly primary: Pick<Primary, 'connect'>;
  readonly pool: SessionPool;
  readonly runner: PostgresRunner;
  /** The clock of this host. */
  readonly hostClock: () => number;
  /** The host's clock, corrected by the database's. */
  readonly clusterClock: ClusterClock;
  /** Called with a warning about a setting that works but is probably not what was meant. */
  readonly warn: (words: string) => void;
  readonly onBlind: (window: BlindWindow) => void;
  /** Called with the number of dead nodes whose claims were released. */
  readonly onFreed: (nodes: number) => void;
  /** Called while this node waits for work that only one can do at a time; `holder` names the other for the log. */
  readonly onWait: OnWait;
}

export interface SharedNode {
  node: ClusterNode;
  /** The methods of the store that work differently if it is not alone. */
  methods: Pick<Store, 'applyDue' | 'recordLiveness'>;
  /** Whether this node can now claim what another one leased, once that lease ends. */
  mayTakeOver(): boolean;
}

export function sharedNode(options: SharedNodeOptions): SharedNode {
  const { node, primary, pool, runner, hostClock, clusterClock, warn, onBlind, onFreed, onWait } = options;
  const life = { threshold: SIGN_PROVES_FOR, firstThreshold: FIRST_GAP };
  const onDead = once(async (areAll: boolean) => {
    const nodes = await runner.writeInBackground((tx) => freeClaimsOfDead(tx, node.id, DEAD_AFTER, areAll));
    if (nodes > 0) onFreed(nodes);
  });
  const onClock = clockWarning(warn, () => performance.now());
  const onTime = (asked: number, told: number) => {
    clusterClock.compared(asked, told);
    refusals.again();
  };
  const onLost = (window: BlindWindow) => noteLost(options, window);
  const told = { onBlind, onLost, onDead, onClock, onTime };
  const liveness = new Liveness({ primary, node, ...life, open: keepWindow, clock: hostClock, ...told });
  const here = { node: node.id, runner };
  const mayAnswer = () => liveness.fault === null;
  const refusals = new Refusals({ ...here, clock: clusterClock.now, mayAnswer });
  const sweep = new SharedSweep({ ...here, signLasts: SIGN_PROVES_FOR, lastSign: () => liveness.lastSign });
  runner.onRefusedCheckIn(() => refusals.tell());
  // A connection that broke while it was idle says nothing: the next one may lead to a new primary.
  const asked = <T>(work: (client: pg.ClientBase) => Promise<T>) =>
    runner.retried(performance.now(), () => withClient(pool, work));
  return {
    node: {
      id: node.id,
      begin: (heldSocket) => liveness.start(heldSocket),
      leave: () => liveness.stop(),
      leaveHeld: (socket) => soon(withClient(pool, (client) => sayHeld(client, node, socket))),
      now: () => asked((client) => compared(client, clusterClock)),
      clockAheadMs: () => clusterClock.aheadMs,
      alone: (name, work) => alone({ primary, onWait: (holder) => onWait(name, holder) }, name, work),
      list: () => asked<ListedNode[]>(listNodes),
      connections: () => pool.figures,
      databaseSize: () => asked(databaseSize),
      answerForRefused: () => refusals.answer(),
      noteLostCheckIn: (since, error) => runner.noteRefusal(since, error, 'check-in'),
      heldSince: () => liveness.heldSince,
      problem: () => (liveness.fault === null ? null : reasonFor(liveness.fault, AWAY)),
    },
    methods: {
      applyDue: (now, after, limit) => sweep.applyDue({ now, after, limit }),
      // The signs of life of all nodes say more than one node could record here.
      recordLiveness: async () => {},
    },
    mayTakeOver: () => liveness.mayTakeOver,
  };
}

function noteLost({ warn, runner }: SharedNodeOptions, window: BlindWindow): void {
  warn(lossOf(window));
  runner.noteLost(window);
}

/** The warning that what was acknowledged in this time is gone. */
function lossOf({ start, end }: BlindWindow): string {
  const [from, to] = [start, end].map((at) => new Date(at).toISOString());
  return `the database lacks what this node wrote from ${from} on: a standby was promoted that did not have it, or an older copy was restored. What was acknowledged from then until ${to} is lost, check-ins among it, and nobody is accused for that time`;
}

/** A stop must not wait for a database that is away. In milliseconds. */
const SOON = 1_000;

async function soon(work: Promise<void>): Promise<void> {
  await Promise.race([work.catch(() => undefined), sleep(SOON, undefined, { ref: false })]);
}

/** Does not run twice at once; what fails is tried again at the next call. */
function once<Given>(work: (given: Given) => Promise<void>): (given: Given) => void {
  let isRunning = false;
  return (given) => {
    if (isRunning) return;
    isRunning = true;
    const done = () => {
      isRunning = false;
    };
    work(given).then(done, done);
  };
}

/** As the operation `openBlindWindow`, on the connection of the sign of life, so that both are in one transaction. */
const keepWindow: OpenWindow = async (client, { start, end }) => {
  await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCKS, 'blind windows']);
  await client.query('INSERT INTO blind_windows (started_at, ended_at, cursor) VALUES ($1, $2, 0)', [
    start,
    end,
  ]);
};

/** Reads the database's clock and corrects this host's by it. */
async function compared(client: pg.ClientBase, clock: ClusterClock): Promise<number> {
  const asked = performance.now();
  const { rows } = await client.query<{ now: string }>(`SELECT ${CLOCK} AS now`);
  const now = Number(rows[0]?.now);
  clock.compared(asked, now);
  return now;
}

async function databaseSize(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ size: string }>(
    'SELECT pg_database_size(current_database()) AS size',
  );
  return Number(rows[0]?.size);
}

/** @throws StoreUnavailable if the database does not answer, and whatever else it says */
async function withClient<T>(pool: SessionPool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isGood = false;
  try {
    const result = await work(client);
    isGood = true;
    return result;
  } catch (error) {
    throw unavailable(error) ?? error;
  } finally {
    client.release(!isGood);
  }
}
