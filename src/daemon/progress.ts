/** Whether the daemon does its work, and if not, whether a restart may help. */
import type { Deliverer } from '../delivery/deliverer.ts';
import type { Store, StoreHealth } from '../store/store.ts';
import type { Sweeper } from '../sweep/sweeper.ts';
import { durationInWords } from '../text/durations.ts';

export interface Workers {
  store: Pick<Store, 'health' | 'misplaced' | 'isContested' | 'checking' | 'node'>;
  sweeper: Pick<Sweeper, 'problem' | 'stall' | 'progress'>;
  deliverer: Pick<Deliverer, 'problem'>;
  start: Start;
}

/** The start goes on after the daemon listens: keys are made, and what raises and sends alarms begins to work. */
export interface Start {
  isOver: boolean;
}

/** Says what keeps the daemon from doing its work; empty when all is well. */
export function problems(workers: Workers): string[] {
  return [...(workers.start.isOver ? [] : ['the daemon is starting']), ...faults(workers)];
}

/** Whether it is not ready yet, and nothing else is wrong: that takes a second or two. */
export function isOnlyStarting(workers: Workers): boolean {
  return !workers.start.isOver && faults(workers).length === 0;
}

function faults({ store, sweeper, deliverer }: Workers): string[] {
  const storeProblem = problemOf(store.health());
  // This can be read without a key, so it does not say where the file was. The log does.
  const place = store.misplaced() === null ? null : 'a file of the database was deleted, moved or replaced';
  const rival = store.isContested() ? 'another process has locked the same data directory' : null;
  const node = store.node?.problem() ?? null;
  return [storeProblem, place, rival, node, sweeper.problem(), deliverer.problem()].filter(
    (problem) => problem !== null,
  );
}

function problemOf({ failingSince, because }: StoreHealth): string | null {
  if (failingSince === null) return null;
  const reason = because === undefined ? '' : `: ${because}`;
  return `the store cannot write since ${new Date(failingSince).toISOString()}${reason}`;
}

/** Clocks are expected to agree within a second (`extensions: Several nodes`); milliseconds. */
const MOST_APART = 1_000;

/** What does not stop it from working but should be fixed all the same. This can be read without a key. */
export function warnings({ store }: Pick<Workers, 'store'>): string[] {
  const aheadMs = store.node?.clockAheadMs() ?? 0;
  if (Math.abs(aheadMs) <= MOST_APART) return [];
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    `the clock of this host is ${durationInWords(Math.abs(aheadMs))} ${where} that of the database, whose time this node uses`,
  ];
}

/** Work that takes a while, besides its normal duties; check-ins are received meanwhile as usual. */
export function progress({ store, sweeper }: Workers): string[] {
  return [sweeper.progress(), checkProgress(store.checking())].filter((one) => one !== null);
}

function checkProgress(progress: ReturnType<Store['checking']>): string | null {
  if (progress === null) return null;
  const { done, of } = progress;
  const how = of === 0 ? 'reading it' : `${done} of ${of} tables are done`;
  return `checking the database in the background: ${how}`;
}

/**
 * Says what a restart may fix. A store that cannot write is not included: it still answers, and takes check-ins again
 * as soon as the disk has room. Sweeps and deliveries fail only because of it, and a restarted daemon could not even
 * say so. Nor is a database whose file was deleted: only an orderly stop saves what is in it, and a watchdog would not
 * wait for one before it kills.
 */
export function stalls({ store, sweeper, deliverer }: Workers): string[] {
  const isFailing = store.health().failingSince !== null || (store.node?.problem() ?? null) !== null;
  const found = isFailing ? [sweeper.stall()] : [sweeper.problem(), deliverer.problem()];
  return found.filter((problem) => problem !== null);
}
